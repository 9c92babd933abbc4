"""Settings have defaults, are validated, and are documented."""

import ipaddress
from pathlib import Path

import pytest
from django.core.checks import run_checks

from catalog.conf import Settings, conf, declared_settings, lease_error
from routing.conf import Settings as RoutingSettings

ROOT = Path(__file__).parents[2]
DECLARED = [*declared_settings(), *declared_settings(RoutingSettings)]


def check_ids() -> list[str]:
    return [message.id for message in run_checks(tags=["catalog"])]


@pytest.mark.parametrize("setting", DECLARED, ids=lambda setting: setting.name)
def test_default_is_valid_and_the_setting_is_documented(setting):
    assert setting.fault(setting.default) == ""
    assert f"`{setting.name}`" in (ROOT / "docs/operations.md").read_text("utf-8")


def test_setting_without_a_value_has_its_default(settings):
    del settings.AGENTLENS_PROBE_TIMEOUT

    assert conf.PROBE_TIMEOUT == 5.0


def test_setting_is_read_each_time(settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 7

    assert conf.PROBE_TIMEOUT == 7


@pytest.mark.parametrize(
    "value", [["10.0.0.0/8"], [ipaddress.ip_network("10.0.0.0/8")]]
)
def test_networks_may_be_texts_or_objects(settings, value):
    settings.AGENTLENS_ALLOWED_NETWORKS = value

    assert list(conf.ALLOWED_NETWORKS) == [ipaddress.ip_network("10.0.0.0/8")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PROBE_TIMEOUT", 0),
        ("PROBE_TIMEOUT", "5"),
        ("PROBE_TIMEOUT", float("inf")),
        ("PROBE_TIMEOUT", float("nan")),
        ("PROBE_CONCURRENCY", 1.5),
        ("PROBE_CONCURRENCY", True),
        ("ALLOWED_NETWORKS", "10.0.0.0/8"),
        ("ALLOWED_NETWORKS", ["10.1.2.3/8"]),
        ("ALLOWED_NETWORKS", None),
    ],
)
def test_check_finds_a_setting_that_makes_no_sense(settings, name, value):
    setattr(settings, f"AGENTLENS_{name}", value)

    assert check_ids() == ["catalog.E001"]


def test_check_finds_a_lease_shorter_than_a_probe(settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 90.0

    assert check_ids() == ["catalog.E002"]
    assert lease_error(91, 90) == ""


@pytest.mark.parametrize(
    ("missing", "found"),
    [
        ("django.contrib.messages", "catalog.E003"),
        ("django_htmx", "catalog.W001"),
    ],
)
def test_check_names_an_app_that_is_not_installed(settings, missing, found):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != missing]

    assert check_ids() == [found]


def test_check_names_a_middleware_that_is_missing(settings):
    settings.MIDDLEWARE = [m for m in settings.MIDDLEWARE if "messages" not in m]

    assert check_ids() == ["catalog.E006"]


@pytest.mark.parametrize("broken", ["APP_DIRS", "OPTIONS"])
def test_check_finds_templates_that_cannot_be_rendered(settings, broken):
    engine = {**settings.TEMPLATES[0], broken: {} if broken == "OPTIONS" else False}
    settings.TEMPLATES = [engine]

    assert check_ids() == ["catalog.E004"]


def test_project_has_no_problem():
    assert check_ids() == []


def test_settings_of_both_apps_have_different_names():
    assert len({setting.name for setting in DECLARED}) == len(DECLARED)
    assert all(hasattr(Settings, s.name[10:]) for s in declared_settings())
