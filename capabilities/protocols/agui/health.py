"""What the responses to the health requests of an AG-UI agent must contain."""

from ...health_requests import Expectation, HealthResponse


def find_object_mismatch(response: HealthResponse) -> str:
    """Return what the response contains instead of an object, or ""."""
    try:
        if isinstance(response.read_json(), dict):
            return ""
    except ValueError:
        pass
    return response.describe("a JSON object")


def find_page(response: HealthResponse) -> str:
    """Return "HTML" if the response is a page for people, else ""."""
    return "HTML" if response.is_html else ""


OBJECT_EXPECTED = Expectation(find_object_mismatch)
# AG-UI does not define how an agent answers a GET: any answer but a page, which a host
# serves when the agent is gone. The body is not read, because a stream may never end.
NO_PAGE_EXPECTED = Expectation(find_page, needs_body=False)
