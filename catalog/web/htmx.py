from django.http import HttpRequest


def wants_partial(request: HttpRequest) -> bool:
    """Return whether htmx requests a partial to swap in.

    Boosted navigation and history restoration need the full page.
    """
    headers = request.headers
    return (
        headers.get("HX-Request") == "true"
        and "HX-Boosted" not in headers
        and "HX-History-Restore-Request" not in headers
    )
