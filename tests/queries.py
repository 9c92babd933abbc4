"""Counting the database queries of a request."""

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

# The token with its user and the permissions of the user.
TOKEN_QUERIES = 1
# The session, its user, and the user's permissions.
SESSION_QUERIES = 3


def count_queries(client: Client | APIClient, url: str) -> int:
    """Return the number of queries of a request, without those for authentication.

    The client sends the token or the session of a user.
    """
    with CaptureQueriesContext(connection) as captured:
        response = client.get(url)
    assert response.status_code == 200, response.content
    is_api_client = isinstance(client, APIClient)
    return len(captured) - (TOKEN_QUERIES if is_api_client else SESSION_QUERIES)
