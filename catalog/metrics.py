"""Prometheus metrics of the catalog."""

from collections.abc import Iterator

from django.db.models import Count
from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from .models import CatalogEntry

PROBES = Counter(
    "agentlens_probes",
    "Number of probes by protocol and outcome.",
    ["protocol", "outcome"],
)
PROBE_SECONDS = Histogram(
    "agentlens_probe_seconds",
    "Duration of successful probes in seconds, by protocol.",
    ["protocol"],
)
SEARCH_SECONDS = Histogram(
    "agentlens_search_seconds",
    "Duration of capability searches in seconds.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)


class CatalogCollector(Collector):
    """Counts the entries in the database, with the same result in every process."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        labels = ["status", "protocol"]
        gauge = GaugeMetricFamily(
            "agentlens_entries",
            "Number of catalog entries by status and protocol.",
            labels=labels,
        )
        entries = CatalogEntry.objects.order_by()
        rows = entries.values_list("status", "agent_type__protocol")
        for status, protocol, count in rows.annotate(Count("pk")):
            gauge.add_metric([status, protocol], count)
        yield gauge
