import stat
from concurrent.futures import ThreadPoolExecutor

from agentlens.settings import kept_secret


def test_a_secret_is_made_once_and_for_its_owner_only(tmp_path):
    path = tmp_path / "deeper" / "secret_key"
    secret = kept_secret(path)

    assert len(secret) > 60
    assert kept_secret(path) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret_key"]


def test_starting_many_at_once_still_makes_one_secret(tmp_path):
    path = tmp_path / "secret_key"
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(kept_secret, [path] * 32))

    assert len(secrets) == 1
