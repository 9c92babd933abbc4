class CapabilityKeyConverter:
    """`kind::name`; a name may hold slashes, newlines, `::`, anything but a NUL."""

    regex = r"[^\x00]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def split_key(key: str) -> tuple[str, str] | None:
    """Kind and name, split at the first `::`; None when there is none."""
    kind, separator, name = key.partition("::")
    return (kind, name) if separator else None
