"""Settings have defaults, are validated, and are documented."""

import ipaddress
from pathlib import Path

import pytest
from django.core.checks import run_checks

from catalog.conf import (
    SETTING_PREFIX,
    CatalogSettings,
    conf,
    find_lease_error,
    iter_declared_settings,
)
from routing.conf import RoutingSettings

ROOT = Path(__file__).parents[2]
ALL_SETTINGS = [*iter_declared_settings(), *iter_declared_settings(RoutingSettings)]


def run_check_ids() -> list[str]:
    return [message.id for message in run_checks(tags=["catalog"])]


@pytest.mark.parametrize("setting", ALL_SETTINGS, ids=lambda setting: setting.name)
def test_setting_has_valid_default_and_is_documented(setting):
    assert setting.find_error(setting.default) == ""
    assert f"`{setting.name}`" in (ROOT / "docs/operations.md").read_text("utf-8")


def test_unset_setting_has_its_default(settings):
    del settings.AGENTLENS_PROBE_TIMEOUT

    assert conf.PROBE_TIMEOUT == 5.0


def test_setting_is_read_at_each_access(settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 7

    assert conf.PROBE_TIMEOUT == 7


@pytest.mark.parametrize(
    "value", [["10.0.0.0/8"], [ipaddress.ip_network("10.0.0.0/8")]]
)
def test_networks_can_be_strings_or_objects(settings, value):
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
def test_check_reports_invalid_setting(settings, name, value):
    setattr(settings, f"AGENTLENS_{name}", value)

    assert run_check_ids() == ["catalog.E001"]


def test_check_reports_lease_shorter_than_probe_timeout(settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 90.0

    assert run_check_ids() == ["catalog.E002"]
    assert find_lease_error(91, 90) == ""


@pytest.mark.parametrize(
    ("missing", "check_id"),
    [
        ("django.contrib.messages", "catalog.E003"),
        ("django_htmx", "catalog.W001"),
    ],
)
def test_check_reports_missing_app(settings, missing, check_id):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != missing]

    assert run_check_ids() == [check_id]


def test_check_reports_missing_middleware(settings):
    settings.MIDDLEWARE = [
        middleware for middleware in settings.MIDDLEWARE if "messages" not in middleware
    ]

    assert run_check_ids() == ["catalog.E006"]


@pytest.mark.parametrize("broken", ["APP_DIRS", "OPTIONS"])
def test_check_reports_unusable_template_settings(settings, broken):
    engine = {**settings.TEMPLATES[0], broken: {} if broken == "OPTIONS" else False}
    settings.TEMPLATES = [engine]

    assert run_check_ids() == ["catalog.E004"]


def test_project_settings_pass_checks():
    assert run_check_ids() == []


def test_setting_names_are_unique_across_apps():
    assert len({setting.name for setting in ALL_SETTINGS}) == len(ALL_SETTINGS)
    assert all(
        hasattr(CatalogSettings, setting.name.removeprefix(SETTING_PREFIX))
        for setting in iter_declared_settings()
    )
