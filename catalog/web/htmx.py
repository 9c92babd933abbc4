from django.http import HttpRequest


def wants_partial(request: HttpRequest) -> bool:
    """Whether htmx asks for the part it will swap, not for a page to restore."""
    headers = request.headers
    return (
        headers.get("HX-Request") == "true"
        and "HX-Boosted" not in headers
        and "HX-History-Restore-Request" not in headers
    )
