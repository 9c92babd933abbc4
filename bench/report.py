"""Print tables of times, and ratios with their goals."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import ge, le
from statistics import median, quantiles

from .queries import FAMILIES, SELECTIVE, WEIGHTS, build_queries

Sizes = dict[str, dict]
SIGNS = {">=": ge, "<=": le}


@dataclass(frozen=True, slots=True)
class Ratio:
    database: str
    name: str
    value: float
    sign: str = ""
    goal: float = 0

    @property
    def verdict(self) -> str:
        if not self.sign:
            return "(no goal)"
        return "met" if SIGNS[self.sign](self.value, self.goal) else "MISSED"

    def __str__(self) -> str:
        goal = f"{self.sign} {self.goal:g}" if self.sign else ""
        cells = (self.database, self.name, f"{self.value:.3g}", goal, self.verdict)
        return f"| {' | '.join(cells)} |"


def get_family_times(times: list, family: str) -> list[float]:
    return [ms for name, ms in times if name == family]


def get_times(times: list) -> list[float]:
    return [ms for _, ms in times]


def p95(times: list[float]) -> float:
    return quantiles(times, n=20, method="inclusive")[-1] if times[1:] else times[0]


Parts = dict[tuple[str, str], dict]


def print_report(results: dict[str, Sizes], parts: Parts) -> int:
    print(
        "\nTimes are in ms, p50 / p95. They depend on the machine; compare the ratios."
    )
    for database, sizes in results.items():
        for size, result in sizes.items():
            print(f"\n## {database}, {size}: {result['rows']:,} searchable rows\n")
            print("\n".join(build_search_table(result)))
    for (database, part), result in parts.items():
        print(f"\n## {database}, {part}\n")
        print("\n".join(TABLES[part](result)))
    print("\n## Ratios, within this run\n")
    print("| Database | Ratio | Measured | Goal | |\n|---|---|---|---|---|")
    for database, sizes in results.items():
        print("\n".join(map(str, build_search_ratios(database, sizes))))
    for (database, part), result in parts.items():
        print("\n".join(map(str, RATIOS[part](database, result))))
    differences = list(iter_differences(results, parts))
    print("\n".join(build_verdict(results, differences)))
    return 1 if differences else 0


def iter_differences(results: dict[str, Sizes], parts: Parts) -> Iterator[str]:
    measured = {
        (d, size): r for d, sizes in results.items() for size, r in sizes.items()
    }
    for (database, name), result in (measured | parts).items():
        for difference in result["differences"]:
            yield f"{database}, {name}: {difference}"


def build_verdict(results: dict[str, Sizes], differences: list[str]) -> Iterator[str]:
    count = sum(
        2 * len(r["expected"]) for sizes in results.values() for r in sizes.values()
    )
    yield f"\nCompared {count} results with a full scan, and the stored results of"
    yield "a round of probes with the expected ones:"
    yield f"{len(differences)} differ: MISSED" if differences else "identical: met"
    yield from differences[:20]


def build_search_table(result: dict) -> Iterator[str]:
    totals = [[query.family, r["total"]] for query, r in zip_expected(result)]
    yield "| Family | of 100 | matches | in process | naive, p50 | HTTP |"
    yield "|---|---|---|---|---|---|"
    for family in FAMILIES:
        indexed, plain, served = (
            get_family_times(result[target], family)
            for target in ("indexed", "naive", "http")
        )
        matches = median(get_family_times(totals, family))
        yield (
            f"| {family} | {WEIGHTS[family]} | {matches:g}"
            f" | {median(indexed):.2f} / {p95(indexed):.2f} | {median(plain):.0f}"
            f" | {median(served):.2f} / {p95(served):.2f} |"
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


def build_search_ratios(database: str, sizes: Sizes) -> Iterator[Ratio]:
    small = {target: get_times(sizes["10k"][target]) for target in LABELS}
    if large := sizes.get("100k"):
        for family in [*SELECTIVE, "two letters, rare"]:
            naive, indexed = (
                median(get_family_times(large[k], family)) for k in ("naive", "indexed")
            )
            goal = (">=", 50) if family in SELECTIVE else ()
            name = f"search {family} at 100k: naive / indexed"
            yield Ratio(database, name, naive / indexed, *goal)
    for size, goal in {"100k": 2.5, "1M": 6}.items():
        if size in sizes:
            value = p95(get_times(sizes[size]["http"])) / p95(small["http"])
            yield Ratio(database, f"HTTP p95, {size} / 10k", value, "<=", goal)
    for target in ("endpoint", "search"):
        value = median(small["http"]) / median(small[target])
        name = f"HTTP p50, 10k: endpoint / {LABELS[target]}"
        yield Ratio(database, name, value, "<=", 2)


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
        idle, probing = (get_times(measured[k]) for k in ("idle", "probing"))
        yield (
            f"| {label} | {measured['count']:,} | {measured['rate']:.0f}"
            f" | {median(idle):.2f} / {p95(idle):.2f}"
            f" | {median(probing):.2f} / {p95(probing):.2f} |"
        )


def build_probing_ratios(database: str, result: dict) -> Iterator[Ratio]:
    name = f"one prober: a round of {result['entries']:,} / the interval"
    yield Ratio(database, name, result["round"] / result["interval"])
    for prober, label in PROBERS.items():
        idle, probing = (get_times(result[prober][k]) for k in ("idle", "probing"))
        count = result[prober]["count"]
        comparison = f"{count:,} entries, prober {label}: probing / idle"
        yield Ratio(
            database, f"HTTP p95, {comparison}", p95(probing) / p95(idle), "<=", 1.3
        )
        yield Ratio(database, f"HTTP p50, {comparison}", median(probing) / median(idle))


STRATEGIES = ("priority", "load_balance")


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
    for strategy in STRATEGIES:
        value = idle / median(get_times(result["times"][strategy]))
        name = f"decisions/s by {strategy} / healthz"
        yield Ratio(database, name, value, ">=", 0.5)


TABLES = {"probing": build_probing_table, "routing": build_routing_table}
RATIOS = {"probing": build_probing_ratios, "routing": build_routing_ratios}
