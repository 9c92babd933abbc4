"""Words of the generated catalog: a long tail, and words with a fixed frequency."""

from itertools import accumulate
from random import Random

SEED = 2_026

# The share of capabilities that contain each of these words is in `SHARES`.
COMMON = "translate customer schedule document analysis".split()
UNCOMMON = (
    "invoice payroll warehouse voucher subtitle forecast glossary contract passport"
    " itinerary inventory newsletter thumbnail transcript tax benchmark calendar"
    " checkout firewall telemetry"
).split()
RARE = (
    "zeppelin theremin sextant astrolabe bassoon cuneiform dulcimer falconry gazebo"
    " harpsichord jacaranda kaleidoscope lighthouse marzipan obsidian pergola quokka"
    " saxophone tarantella xylophone"
).split()
# Two letters that occur in no other word.
PAIRS = "qz xq jx zq vq qj wq qk".split()
# The spelling in the catalog and the spelling in the query.
OTHER_SPELLINGS = {"Łódź": "ŁÓDŹ", "Straße": "STRASSE", "İstanbul": "istanbul"}
LETTERS = "e a o i t".split()

SHARES = (
    dict.fromkeys(COMMON, 0.2)
    | dict.fromkeys(UNCOMMON, 0.01)
    | dict.fromkeys(OTHER_SPELLINGS, 0.001)
    | dict.fromkeys([*RARE, *(f"o{pair}en" for pair in PAIRS)], 0.0001)
)
STARTS = "b c d f g k l m n p r s t v br cl dr gr pl st tr".split()
VOWELS = "a e i o u ea io ou".split()
ENDS = ["", "", "", "l", "m", "n", "r", "s", "t"]
TAIL_SIZE = 5_000


class Words:
    """Draws random words with a long-tail distribution."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.tail = sorted(self.build_tail())
        random.shuffle(self.tail)
        self.weights = list(accumulate(1 / (n + 10) for n in range(TAIL_SIZE)))

    def build_tail(self) -> set[str]:
        words: set[str] = set()
        while len(words) < TAIL_SIZE:
            word = "".join(map(self.build_syllable, range(self.random.randint(2, 4))))
            if not any(other.lower() in word for other in SHARES):
                words.add(word)
        return words

    def build_syllable(self, _: int) -> str:
        return "".join(map(self.random.choice, (STARTS, VOWELS, ENDS)))

    def draw(self, count: int) -> list[str]:
        return self.random.choices(self.tail, cum_weights=self.weights, k=count)

    def draw_fixed_share_words(self) -> list[str]:
        """Return the words with a fixed share for one capability, drawn by share."""
        random = self.random.random
        return [word for word, share in SHARES.items() if random() < share]
