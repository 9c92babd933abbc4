"""The `Authorization` header of one import or refresh."""

from dataclasses import dataclass

from ..outbound import get_origin


@dataclass(frozen=True, slots=True)
class OriginCredentials:
    """An `Authorization` header and the URL whose origin may receive it."""

    authorization: str = ""
    trusted_url: str = ""

    def __bool__(self) -> bool:
        return bool(self.authorization)

    def get_authorization(self, url: str) -> str:
        """Return the header if the URL has the trusted origin, else ""."""
        if get_origin(url) != get_origin(self.trusted_url):
            return ""
        return self.authorization
