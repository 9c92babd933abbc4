import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentlens.settings import read_or_create_secret


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "False False"),
        ({"ALLOWED_HOSTS": "agents.example.com"}, "False True"),
        ({"AGENTLENS_SECURE_COOKIES": "on"}, "False True"),
        ({"DEBUG": "on"}, "True False"),
    ],
)
def test_debug_is_off_and_a_named_site_has_secure_cookies(tmp_path, given, told):
    code = (
        "from agentlens import settings as s;"
        "assert s.SESSION_COOKIE_SECURE == s.CSRF_COOKIE_SECURE;"
        "assert s.SESSION_COOKIE_HTTPONLY and s.CSRF_COOKIE_HTTPONLY;"
        "print(s.DEBUG, s.SESSION_COOKIE_SECURE)"
    )
    kept = {"PATH": os.environ["PATH"], "AGENTLENS_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    printed = subprocess.check_output(command, env=kept | given, text=True)

    assert printed.strip() == told


def test_a_secret_is_made_once_and_for_its_owner_only(tmp_path):
    path = tmp_path / "deeper" / "secret_key"
    secret = read_or_create_secret(path)

    assert len(secret) > 60
    assert read_or_create_secret(path) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret_key"]


def test_starting_many_at_once_still_makes_one_secret(tmp_path):
    path = tmp_path / "secret_key"
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(read_or_create_secret, [path] * 32))

    assert len(secrets) == 1
