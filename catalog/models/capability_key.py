class CapabilityKeyConverter:
    """The rest of a URL, such as `kind::name`: any characters except NUL."""

    regex = r"[^\x00]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def split_key(key: str) -> tuple[str, str] | None:
    """Return kind and name, split at the first `::`, or None without a `::`."""
    kind, separator, name = key.partition("::")
    return (kind, name) if separator else None
