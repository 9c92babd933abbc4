from django.apps import AppConfig


class WeatherConfig(AppConfig):
    name = "tests.weather"

    def ready(self):
        from capabilities.kinds import kinds
        from capabilities.parsers import parsers

        from .protocol import WeatherParser

        # Django calls ready() again in tests that override INSTALLED_APPS.
        if WeatherParser.slug not in parsers:
            kinds.register(*WeatherParser.kinds)
            parsers.register(WeatherParser())
