import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentlens.settings import read_or_create_secret


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "False False"),
        ({"ALLOWED_HOSTS": "agents.example.com"}, "False True"),
        ({"AGENTLENS_SECURE_COOKIES": "on"}, "False True"),
        ({"DEBUG": "on"}, "True False"),
    ],
)
def test_debug_and_secure_cookies_follow_environment(tmp_path, environment, expected):
    code = (
        "from agentlens import settings as s;"
        "assert s.SESSION_COOKIE_SECURE == s.CSRF_COOKIE_SECURE;"
        "assert s.SESSION_COOKIE_HTTPONLY and s.CSRF_COOKIE_HTTPONLY;"
        "print(s.DEBUG, s.SESSION_COOKIE_SECURE)"
    )
    base = {"PATH": os.environ["PATH"], "AGENTLENS_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    stdout = subprocess.check_output(command, env=base | environment, text=True)

    assert stdout.strip() == expected


def test_secret_key_is_created_once_and_readable_by_owner_only(tmp_path):
    path = tmp_path / "deeper" / "secret_key"
    secret = read_or_create_secret(path)

    assert len(secret) > 60
    assert read_or_create_secret(path) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret_key"]


def test_concurrent_starts_create_one_secret_key(tmp_path):
    path = tmp_path / "secret_key"
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(read_or_create_secret, [path] * 32))

    assert len(secrets) == 1
