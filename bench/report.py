"""Print tables of times, and ratios with their goals."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import ge, le
from statistics import median, quantiles

from .queries import FAMILIES, SELECTIVE, WEIGHTS, build_queries

ResultsBySize = dict[str, dict]
# The keys are pairs of a database and a benchmark.
ResultsByBenchmark = dict[tuple[str, str], dict]
COMPARISONS = {">=": ge, "<=": le}


@dataclass(frozen=True, slots=True)
class Ratio:
    database: str
    name: str
    value: float
    # How the value must compare to the goal, "" without a goal.
    comparison: str = ""
    goal: float = 0

    @property
    def verdict(self) -> str:
        if not self.comparison:
            return "(no goal)"
        is_met = COMPARISONS[self.comparison](self.value, self.goal)
        return "met" if is_met else "MISSED"

    def __str__(self) -> str:
        goal = f"{self.comparison} {self.goal:g}" if self.comparison else ""
        cells = (self.database, self.name, f"{self.value:.3g}", goal, self.verdict)
        return f"| {' | '.join(cells)} |"


def get_family_times(times: list, family: str) -> list[float]:
    return [ms for name, ms in times if name == family]


def get_times(times: list) -> list[float]:
    return [ms for _, ms in times]


def p95(times: list[float]) -> float:
    return quantiles(times, n=20, method="inclusive")[-1] if times[1:] else times[0]


def print_report(
    results: dict[str, ResultsBySize], benchmarks: ResultsByBenchmark
) -> int:
    print(
        "\nTimes are in ms, p50 / p95. They depend on the machine; compare the ratios."
    )
    for database, sizes in results.items():
        for size, result in sizes.items():
            print(f"\n## {database}, {size}: {result['rows']:,} searchable rows\n")
            print("\n".join(build_search_table(result)))
    for (database, benchmark), result in benchmarks.items():
        print(f"\n## {database}, {benchmark}\n")
        print("\n".join(TABLES[benchmark](result)))
    print("\n## Ratios, within this run\n")
    print("| Database | Ratio | Measured | Goal | |\n|---|---|---|---|---|")
    for database, sizes in results.items():
        print("\n".join(map(str, build_search_ratios(database, sizes))))
    for (database, benchmark), result in benchmarks.items():
        print("\n".join(map(str, RATIOS[benchmark](database, result))))
    differences = list(iter_differences(results, benchmarks))
    print("\n".join(build_verdict(results, differences)))
    return 1 if differences else 0


def iter_differences(
    results: dict[str, ResultsBySize], benchmarks: ResultsByBenchmark
) -> Iterator[str]:
    measured = {
        (database, size): result
        for database, sizes in results.items()
        for size, result in sizes.items()
    }
    for (database, name), result in (measured | benchmarks).items():
        for difference in result["differences"]:
            yield f"{database}, {name}: {difference}"


def build_verdict(
    results: dict[str, ResultsBySize], differences: list[str]
) -> Iterator[str]:
    count = sum(
        2 * len(result["expected"])
        for sizes in results.values()
        for result in sizes.values()
    )
    yield f"\nCompared {count} results with a full scan, and the stored results of"
    yield "a round of probes with the expected ones:"
    yield f"{len(differences)} differ: MISSED" if differences else "identical: met"
    yield from differences[:20]


def build_search_table(result: dict) -> Iterator[str]:
    totals = [
        [query.family, expected["total"]] for query, expected in zip_expected(result)
    ]
    yield "| Family | of 100 | matches | in process | naive, p50 | HTTP |"
    yield "|---|---|---|---|---|---|"
    for family in FAMILIES:
        indexed = get_family_times(result["indexed"], family)
        naive = get_family_times(result["naive"], family)
        http = get_family_times(result["http"], family)
        matches = median(get_family_times(totals, family))
        yield (
            f"| {family} | {WEIGHTS[family]} | {matches:g}"
            f" | {median(indexed):.2f} / {p95(indexed):.2f} | {median(naive):.0f}"
            f" | {median(http):.2f} / {p95(http):.2f} |"
        )
    for target, label in LABELS.items():
        if target in result:
            times = get_times(result[target])
            yield f"\n{label}: {median(times):.2f} / {p95(times):.2f}"


def zip_expected(result: dict) -> zip:
    return zip(build_queries(result["size"]), result["expected"], strict=True)


LABELS = {
    "http": "all queries over HTTP",
    "endpoint": "bare WSGI, the endpoint's SQL",
    "search": "bare WSGI, the search's SQL alone",
}


def build_search_ratios(database: str, sizes: ResultsBySize) -> Iterator[Ratio]:
    small = {target: get_times(sizes["10k"][target]) for target in LABELS}
    if large := sizes.get("100k"):
        for family in [*SELECTIVE, "two letters, rare"]:
            naive = median(get_family_times(large["naive"], family))
            indexed = median(get_family_times(large["indexed"], family))
            name = f"search {family} at 100k: naive / indexed"
            if family in SELECTIVE:
                yield Ratio(database, name, naive / indexed, comparison=">=", goal=50)
            else:
                yield Ratio(database, name, naive / indexed)
    for size, goal in {"100k": 2.5, "1M": 6}.items():
        if size in sizes:
            value = p95(get_times(sizes[size]["http"])) / p95(small["http"])
            name = f"HTTP p95, {size} / 10k"
            yield Ratio(database, name, value, comparison="<=", goal=goal)
    for target in ("endpoint", "search"):
        value = median(small["http"]) / median(small[target])
        name = f"HTTP p50, 10k: endpoint / {LABELS[target]}"
        yield Ratio(database, name, value, comparison="<=", goal=2)


PROBERS = {
    "embedded": "in the server",
    "embedded_many": "in the server",
    "separate": "in a separate process",
}


def build_probing_table(result: dict) -> Iterator[str]:
    seconds, entries = result["round"], result["entries"]
    rate = f"{entries / seconds:.0f} entries/s, {seconds:.1f} s"
    yield f"One prober, {entries:,} entries due at once: {rate}\n"
    yield "| Prober | entries | probes/s | HTTP, idle | HTTP, probing |"
    yield "|---|---|---|---|---|"
    for prober, label in PROBERS.items():
        measured = result[prober]
        idle, probing = get_times(measured["idle"]), get_times(measured["probing"])
        yield (
            f"| {label} | {measured['count']:,} | {measured['rate']:.0f}"
            f" | {median(idle):.2f} / {p95(idle):.2f}"
            f" | {median(probing):.2f} / {p95(probing):.2f} |"
        )


def build_probing_ratios(database: str, result: dict) -> Iterator[Ratio]:
    name = f"one prober: a round of {result['entries']:,} / the interval"
    yield Ratio(database, name, result["round"] / result["interval"])
    for prober, label in PROBERS.items():
        measured = result[prober]
        idle, probing = get_times(measured["idle"]), get_times(measured["probing"])
        name = f"{measured['count']:,} entries, prober {label}: probing / idle"
        yield Ratio(
            database,
            f"HTTP p95, {name}",
            p95(probing) / p95(idle),
            comparison="<=",
            goal=1.3,
        )
        yield Ratio(database, f"HTTP p50, {name}", median(probing) / median(idle))


MEASURED_STRATEGIES = ("priority", "load_balance")


def build_routing_table(result: dict) -> Iterator[str]:
    yield "| Over HTTP | p50 / p95 | per second, one client |"
    yield "|---|---|---|"
    for target, all_times in result["times"].items():
        times = get_times(all_times)
        yield (
            f"| {target} | {median(times):.2f} / {p95(times):.2f}"
            f" | {1000 / median(times):.0f} |"
        )
    reported = 1000 / median(get_times(result["times"]["report"])) * result["outcomes"]
    yield f"\nOutcomes accepted, {result['outcomes']} per report: {reported:,.0f}/s"


def build_routing_ratios(database: str, result: dict) -> Iterator[Ratio]:
    idle = median(get_times(result["times"]["healthz"]))
    for strategy in MEASURED_STRATEGIES:
        value = idle / median(get_times(result["times"][strategy]))
        name = f"decisions/s by {strategy} / healthz"
        yield Ratio(database, name, value, comparison=">=", goal=0.5)


TABLES = {"probing": build_probing_table, "routing": build_routing_table}
RATIOS = {"probing": build_probing_ratios, "routing": build_routing_ratios}
