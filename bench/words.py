"""The words agents speak: a long tail, and some whose share is known."""

from itertools import accumulate
from random import Random

SEED = 2_026

# Each with its share of all capabilities, in `SHARES`, whatever else these say.
COMMON = "translate customer schedule document analysis".split()
SOME = (
    "invoice payroll warehouse voucher subtitle forecast glossary contract passport"
    " itinerary inventory newsletter thumbnail transcript tax benchmark calendar"
    " checkout firewall telemetry"
).split()
RARE = (
    "zeppelin theremin sextant astrolabe bassoon cuneiform dulcimer falconry gazebo"
    " harpsichord jacaranda kaleidoscope lighthouse marzipan obsidian pergola quokka"
    " saxophone tarantella xylophone"
).split()
# Two letters that no other word holds together.
PAIRS = "qz xq jx zq vq qj wq qk".split()
# Written one way, and asked for in another.
SPELLINGS = {"Łódź": "ŁÓDŹ", "Straße": "STRASSE", "İstanbul": "istanbul"}
LETTERS = "e a o i t".split()

SHARES = (
    dict.fromkeys(COMMON, 0.2)
    | dict.fromkeys(SOME, 0.01)
    | dict.fromkeys(SPELLINGS, 0.001)
    | dict.fromkeys([*RARE, *(f"o{pair}en" for pair in PAIRS)], 0.0001)
)
STARTS = "b c d f g k l m n p r s t v br cl dr gr pl st tr".split()
VOWELS = "a e i o u ea io ou".split()
ENDS = ["", "", "", "l", "m", "n", "r", "s", "t"]
TAIL = 5_000


class Words:
    """Draws words, a few of them often and most of them hardly ever."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.tail = sorted(self.invented())
        random.shuffle(self.tail)
        self.weights = list(accumulate(1 / (n + 10) for n in range(TAIL)))

    def invented(self) -> set[str]:
        found: set[str] = set()
        while len(found) < TAIL:
            word = "".join(map(self.syllable, range(self.random.randint(2, 4))))
            if not any(known.lower() in word for known in SHARES):
                found.add(word)
        return found

    def syllable(self, _: int) -> str:
        return "".join(map(self.random.choice, (STARTS, VOWELS, ENDS)))

    def draw(self, count: int) -> list[str]:
        return self.random.choices(self.tail, cum_weights=self.weights, k=count)

    def known(self) -> list[str]:
        """Those with a share of their own that this capability happens to say."""
        chance = self.random.random
        return [word for word, share in SHARES.items() if chance() < share]
