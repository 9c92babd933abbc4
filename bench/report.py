"""Tables of times for the curious, ratios beside their goals for everybody."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import ge, le
from statistics import median, quantiles

from .queries import FAMILIES, SELECTIVE, WEIGHTS, asks

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
        told = f"{self.name} | {self.value:.3g} | {goal} | {self.verdict}"
        return f"| {self.database} | {told} |"


def of(times: list, family: str) -> list[float]:
    return [ms for name, ms in times if name == family]


def all_of(times: list) -> list[float]:
    return [ms for _, ms in times]


def p95(times: list[float]) -> float:
    return quantiles(times, n=20, method="inclusive")[-1] if times[1:] else times[0]


Parts = dict[tuple[str, str], dict]


def show(results: dict[str, Sizes], parts: Parts) -> int:
    print("\nTimes are in ms, p50 / p95, and this machine's; only the ratios count.")
    for database, sizes in results.items():
        for size, result in sizes.items():
            print(f"\n## {database}, {size}: {result['rows']:,} rows searched\n")
            print("\n".join(table(result)))
    for (database, part), result in parts.items():
        print(f"\n## {database}, {part}\n")
        print("\n".join(TABLES[part](result)))
    print("\n## Ratios, within this run\n")
    print("| Database | Ratio | Measured | Goal | |\n|---|---|---|---|---|")
    for database, sizes in results.items():
        print("\n".join(map(str, ratios(database, sizes))))
    for (database, part), result in parts.items():
        print("\n".join(map(str, RATIOS[part](database, result))))
    wrong = list(differing(results, parts))
    print("\n".join(verdicts(results, wrong)))
    return 1 if wrong else 0


def differing(results: dict[str, Sizes], parts: Parts) -> Iterator[str]:
    measured = {
        (d, size): r for d, sizes in results.items() for size, r in sizes.items()
    }
    for (database, name), result in (measured | parts).items():
        for difference in result["differing"]:
            yield f"{database}, {name}: {difference}"


def verdicts(results: dict[str, Sizes], wrong: list[str]) -> Iterator[str]:
    answers = sum(
        2 * len(r["expected"]) for sizes in results.values() for r in sizes.values()
    )
    yield f"\nRows and totals against a plain scan: {answers} answers compared;"
    yield "after a round of probes, what was written down:"
    yield f"{len(wrong)} differ: MISSED" if wrong else "identical: met"
    yield from wrong[:20]


def table(result: dict) -> Iterator[str]:
    totals = [[a.family, right["total"]] for a, right in answered(result)]
    yield "| Family | of 100 | matches | in process | naive, p50 | HTTP |"
    yield "|---|---|---|---|---|---|"
    for family in FAMILIES:
        ours, plain, served = (
            of(result[door], family) for door in ("ours", "naive", "http")
        )
        matches = median(of(totals, family))
        yield (
            f"| {family} | {WEIGHTS[family]} | {matches:g}"
            f" | {median(ours):.2f} / {p95(ours):.2f} | {median(plain):.0f}"
            f" | {median(served):.2f} / {p95(served):.2f} |"
        )
    for door, label in LABELS.items():
        if door in result:
            times = all_of(result[door])
            yield f"\n{label}: {median(times):.2f} / {p95(times):.2f}"


def answered(result: dict) -> zip:
    return zip(asks(result["size"]), result["expected"], strict=True)


LABELS = {
    "http": "the mix over HTTP",
    "whole": "bare WSGI, the endpoint's SQL",
    "searching": "bare WSGI, the search's SQL alone",
}


def ratios(database: str, sizes: Sizes) -> Iterator[Ratio]:
    small = {door: all_of(sizes["10k"][door]) for door in LABELS}
    if large := sizes.get("100k"):
        for family in [*SELECTIVE, "two letters, rare"]:
            naive, ours = (median(of(large[k], family)) for k in ("naive", "ours"))
            goal = (">=", 50) if family in SELECTIVE else ()
            name = f"search {family} at 100k: naive / ours"
            yield Ratio(database, name, naive / ours, *goal)
    for size, goal in {"100k": 2.5, "1M": 6}.items():
        if size in sizes:
            value = p95(all_of(sizes[size]["http"])) / p95(small["http"])
            yield Ratio(database, f"HTTP p95, {size} / 10k", value, "<=", goal)
    for door in ("whole", "searching"):
        value = median(small["http"]) / median(small[door])
        name = f"HTTP p50, 10k: endpoint / {LABELS[door]}"
        yield Ratio(database, name, value, "<=", 2)


PROBERS = {
    "embedded": "in the server",
    "embedded_many": "in the server",
    "apart": "a process of its own",
}


def probing_table(result: dict) -> Iterator[str]:
    seconds, entries = result["round"], result["entries"]
    rate = f"{entries / seconds:.0f} entries/s, {seconds:.1f} s"
    yield f"One prober, {entries:,} entries due at once: {rate}\n"
    yield "| Prober | entries | probes/s meanwhile | HTTP, quiet | HTTP, probing |"
    yield "|---|---|---|---|---|"
    for place, label in PROBERS.items():
        of_place = result[place]
        quiet, probing = (all_of(of_place[door]) for door in ("quiet", "probing"))
        yield (
            f"| {label} | {of_place['count']:,} | {of_place['rate']:.0f}"
            f" | {median(quiet):.2f} / {p95(quiet):.2f}"
            f" | {median(probing):.2f} / {p95(probing):.2f} |"
        )


def probing_ratios(database: str, result: dict) -> Iterator[Ratio]:
    name = f"one prober: a round of {result['entries']:,} / the interval"
    yield Ratio(database, name, result["round"] / result["interval"])
    for place, label in PROBERS.items():
        quiet, probing = (all_of(result[place][k]) for k in ("quiet", "probing"))
        about = f"{result[place]['count']:,} entries, prober {label}: probing / quiet"
        yield Ratio(
            database, f"HTTP p95, {about}", p95(probing) / p95(quiet), "<=", 1.3
        )
        yield Ratio(database, f"HTTP p50, {about}", median(probing) / median(quiet))


DECISIONS = ("priority", "load_balance")


def routing_table(result: dict) -> Iterator[str]:
    yield "| Over HTTP | p50 / p95 | a second, one caller |"
    yield "|---|---|---|"
    for door, times in result["times"].items():
        took = all_of(times)
        yield (
            f"| {door} | {median(took):.2f} / {p95(took):.2f}"
            f" | {1000 / median(took):.0f} |"
        )
    reported = 1000 / median(all_of(result["times"]["report"])) * result["outcomes"]
    yield f"\nOutcomes taken in, {result['outcomes']} a report: {reported:,.0f}/s"


def routing_ratios(database: str, result: dict) -> Iterator[Ratio]:
    idle = median(all_of(result["times"]["healthz"]))
    for strategy in DECISIONS:
        value = idle / median(all_of(result["times"][strategy]))
        name = f"decisions/s by {strategy} / healthz"
        yield Ratio(database, name, value, ">=", 0.5)


TABLES = {"probing": probing_table, "routing": routing_table}
RATIOS = {"probing": probing_ratios, "routing": routing_ratios}
