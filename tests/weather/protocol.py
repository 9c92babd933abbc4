"""Weather stations: https://weather.example/spec."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from capabilities.kinds import Kind
from capabilities.parsers import Parser
from capabilities.problems import Document, Problems, url_fault
from capabilities.records import AgentRecord, CapabilityRecord


@dataclass(frozen=True, kw_only=True)
class Forecast(CapabilityRecord):
    kind: ClassVar[str] = "weather.forecast"

    regions: list[str] = field(default_factory=list)


class WeatherParser(Parser):
    slug = "weather"
    label = "Weather station"
    expects = "needs `station` and `forecasts`"
    kinds = (
        Kind(
            "weather.forecast",
            "Forecast",
            "weather",
            Forecast,
            discoverable=True,
            searched=("regions",),
        ),
    )

    def recognises(self, document: Document) -> bool:
        return {"station", "forecasts"} <= document.keys()

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        address = problems.required_text(document, "address")
        if address and (fault := url_fault(address)):
            problems.error("$.address", fault)
        return AgentRecord(
            protocol=self.slug,
            endpoint=address,
            name=problems.required_text(document, "station"),
            capabilities=tuple(forecasts(document, problems)),
        )


def forecasts(document: Document, problems: Problems) -> Iterator[Forecast]:
    for path, stated in problems.objects(document, "forecasts"):
        yield Forecast(
            name=problems.required_text(stated, "name", path),
            regions=problems.texts(stated, "regions", path) or [],
            path=path,
        )
