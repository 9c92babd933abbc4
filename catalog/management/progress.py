import sys
from collections.abc import Iterable
from typing import Any

import click


def progress_bar(items: Iterable[Any] | None, label: str, length: int | None = None):
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
