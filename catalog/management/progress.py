import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

V = TypeVar("V")


def progress_bar(
    items: Iterable[V], label: str, length: int | None = None
) -> "ProgressBar[V]":
    """Return a progress bar on stderr; it is hidden unless stderr is a terminal."""
    return click.progressbar(
        items,
        length=length,
        label=label,
        show_pos=True,
        width=30,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    )
