from django.apps import AppConfig


class WeatherConfig(AppConfig):
    name = "tests.weather"

    def ready(self):
        from capabilities.kinds import kinds
        from capabilities.parsers import parsers

        from .protocol import WeatherParser

        # Tests that override INSTALLED_APPS make Django call this again.
        if WeatherParser.slug not in parsers:
            kinds.register(*WeatherParser.kinds)
            parsers.register(WeatherParser())
