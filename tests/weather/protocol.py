"""Weather stations: https://weather.example/spec."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from capabilities.kinds import Kind
from capabilities.parsers import Parser
from capabilities.problems import Document, Problems, find_url_error
from capabilities.records import AgentRecord, CapabilityRecord


@dataclass(frozen=True, kw_only=True)
class Forecast(CapabilityRecord):
    kind: ClassVar[str] = "weather.forecast"

    regions: list[str] = field(default_factory=list)


class WeatherParser(Parser):
    slug = "weather"
    label = "Weather station"
    kinds = (
        Kind(
            "weather.forecast",
            "Forecast",
            "weather",
            Forecast,
            discoverable=True,
            search_properties=("regions",),
        ),
    )

    def recognizes(self, document: Document) -> bool:
        return {"station", "forecasts"} <= document.keys()

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        address = problems.required_string(document, "address")
        if address and (message := find_url_error(address)):
            problems.error("$.address", message)
        return AgentRecord(
            protocol=self.slug,
            endpoint=address,
            name=problems.required_string(document, "station"),
            capabilities=tuple(read_forecasts(document, problems)),
        )


def read_forecasts(document: Document, problems: Problems) -> Iterator[Forecast]:
    for path, item in problems.iter_objects(document, "forecasts"):
        yield Forecast(
            name=problems.required_string(item, "name", path),
            regions=problems.string_list(item, "regions", path) or [],
            path=path,
        )
