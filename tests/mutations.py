"""Definitions with random errors, the same in every run."""

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOLDERS = [ROOT / "tests/data", ROOT / "catalog/demo/definitions"]
MAX_MUTATIONS = 4
# Texts that pages, databases, shells, clients or browsers could read in another way.
HOSTILE_TEXTS = [
    "",
    " ",
    "\n\t",
    "x" * 600,
    "word " * 5_000,
    "\u202eright to left\u202c",
    "שלום עולם",
    "e\u0301\u0302" * 40,
    "🦊" * 30,
    "<script>alert(1)</script>",
    "{{ request.user }}{% load x %}",
    "'; DROP TABLE agents; --",
    "$(reboot) `reboot` ${HOME} {name} <NAME>",
    "%s %d %(a)s {0} {a.b}",
    "javascript:alert(1)",
    "//host.example",
    "http://",
    "http://[::1",
    "https://user:secret@host.example:99999/x",
    "https://host.example/a b?c=d#e=f",
    "https://xn--/\u2028",
    "../../etc/passwd",
    "a::b::c",
    "/",
    ".",
    "\ufeff\u200b\u0085",
]
# JSON that Python's encoder does not write.
RAW_VALUES = [
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    "1" * 30,
    "1" * 5_000,
    "-0.0",
    "1e999",
    "1e308",
    "0.1e-400",
    "NaN",
    "Infinity",
    "{" * 3,
    "[" * 80 + "]" * 80,
    '{"a":' * 40 + "1" + "}" * 40,
    '{"a": 1, "a": [2]}',
]
OTHER_TYPES = [None, True, False, 0, -1, 3.5, 2**63, [], {}, [[]], [{}], [None], ["a"]]
OTHER_TYPES += [{"a": 1}, [[[1]]], {"": {"": []}}, ["x", {"y": "z"}, 1, None]]
NEW_NAMES = ["name", "url", "type", "value", "description", "", "a b", "__proto__"]
NEW_NAMES += ["\u202e", "$ref", "x" * 300, "default", "variables", "id", "tags"]
RAW_MARKER = re.compile(r'"RAW-(\d+)"')
# The start of a member name that another member of the object has already.
REPEATED_MARKER = "REPEATED-"


def load_definitions() -> list[bytes]:
    """Return the samples and the demo's definitions of all protocols."""
    paths = sorted(path for folder in FOLDERS for path in folder.rglob("*.*"))
    return [path.read_bytes() for path in paths]


def iter_mutated_definitions(
    definitions: list[bytes], count: int, seed: str
) -> Iterator[bytes]:
    """Yield `count` definitions, each with one to MAX_MUTATIONS errors."""
    generator = random.Random(seed)
    for _ in range(count):
        yield mutate_definition(generator.choice(definitions), generator)


def mutate_definition(raw: bytes, generator: random.Random) -> bytes:
    try:
        document = json.loads(raw)
    except ValueError:
        return mutate_text(raw.decode(), generator).encode()
    mutations = generator.randint(1, MAX_MUTATIONS)
    for _ in range(mutations):
        mutate_document(document, generator)
    return encode(document)


def mutate_text(text: str, generator: random.Random) -> str:
    """Change a line of YAML or TOML: its value, its position or how often it occurs."""
    lines = text.split("\n")
    n = generator.randrange(len(lines))
    separator = "=" if "=" in lines[n] else ":"
    name = lines[n].partition(separator)[0]
    value = generator.choice(
        [*map(json.dumps, HOSTILE_TEXTS + OTHER_TYPES), *RAW_VALUES, "*a", "!!x 1"]
    )
    replacement = generator.choice(
        [[], [lines[n]] * 2, [f"{name}{separator} {value}"], [f"  {lines[n]}"], [value]]
    )
    return "\n".join([*lines[:n], *replacement, *lines[n + 1 :]])


def mutate_document(document: Any, generator: random.Random) -> None:
    """Change one value in the document, at any depth, in place."""
    places = list(iter_places(document))
    if not places:
        return
    container, key = generator.choice(places)
    mutate = generator.choice(
        [
            replace_value,
            replace_value,
            replace_value,
            remove,
            rename,
            repeat,
            nest,
            move,
        ]
    )
    mutate(container, key, generator, places)


def iter_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list in the value with each of its keys or indexes."""
    if not isinstance(value, dict | list):
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        yield from iter_places(item)


def replace_value(container, key, generator, places) -> None:
    raw = [f"RAW-{n}" for n in range(len(RAW_VALUES))]
    values = generator.choice([HOSTILE_TEXTS, raw, OTHER_TYPES, OTHER_TYPES])
    container[key] = copy.deepcopy(generator.choice(values))


def remove(container, key, generator, places) -> None:
    del container[key]


def rename(container, key, generator, places) -> None:
    if isinstance(container, dict):
        container[generator.choice(NEW_NAMES)] = container.pop(key)
    else:
        container.reverse()


def repeat(container, key, generator, places) -> None:
    if isinstance(container, dict):
        other = generator.choice(OTHER_TYPES)
        container[REPEATED_MARKER + key] = copy.deepcopy(other)
    else:
        times = generator.choice([1, 2, 60])
        container.extend(copy.deepcopy(container[key]) for _ in range(times))


def nest(container, key, generator, places) -> None:
    for _ in range(generator.choice([1, 2, 10, 70])):
        wrapped = container[key]
        container[key] = generator.choice([[wrapped], {"a": wrapped}])


def move(container, key, generator, places) -> None:
    """Replace the value with that of another place."""
    other, other_key = generator.choice(places)
    container[key] = copy.deepcopy(other[other_key])


def encode(document: Any) -> bytes:
    text = json.dumps(document).replace(f'"{REPEATED_MARKER}', '"')
    return RAW_MARKER.sub(lambda match: RAW_VALUES[int(match[1])], text).encode()
