"""The query for all providers of a capability, compiled once per database.

Compiling this query with the ORM and creating model instances takes several times as
long as executing it, and callers run it before each of their requests.
"""

from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models.expressions import RawSQL
from django.utils import timezone

from catalog.models import prepared_cursor

from .models import CapabilityRegistration, MetricWindows, RegistrationMetricsMixin

# Columns that no response about providers needs.
UNUSED_COLUMNS = (
    "window",
    "health_check_url",
    "declared",
    "drain_until",
    "registered_at",
    "updated_at",
    "requests_total",
)
WINDOW_NAMES = tuple(field.name for field in fields(MetricWindows))


class ProviderRow(RegistrationMetricsMixin):
    """One row of the query: a registration that can be read but not saved."""

    def __init__(self, names: tuple[str, ...], row: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(names, row, strict=True))
        self.pk = self.__dict__["id"]


class Placeholder(Enum):
    """A parameter of the compiled query that gets its value when the query is run."""

    CAPABILITY = "capability"
    NOW = "now"
    MINUTE_AGO = "minute_ago"
    HOUR_AGO = "hour_ago"
    FIRST_HOUR = "first_hour"
    CURRENT_HOUR = "current_hour"
    FIRST_HOUR_WEIGHT = "first_hour_weight"
    CURRENT_HOUR_WEIGHT = "current_hour_weight"


@dataclass(frozen=True)
class CompiledQuery:
    """The SQL for one database; its parameters are values or placeholders."""

    sql: str
    parameters: tuple[Any, ...]
    names: tuple[str, ...]
    compiler: Any
    converters: Any


@cache
def compile_provider_query(vendor: str) -> CompiledQuery:
    """Return the query for a database vendor, which is only the cache key."""
    windows = {name: RawSQL("%s", [Placeholder(name)]) for name in WINDOW_NAMES}
    capability = RawSQL("%s", [Placeholder.CAPABILITY])
    registrations = CapabilityRegistration.objects.not_drained(windows["now"])
    providers = registrations.with_state().with_metrics(MetricWindows(**windows))
    providers = providers.filter(capability=capability).defer(*UNUSED_COLUMNS)
    compiler: Any = providers.query.get_compiler(DEFAULT_DB_ALIAS)
    sql, parameters = compiler.as_sql()
    columns = [(expression, alias) for expression, _, alias in compiler.select]
    names = tuple(alias or expression.target.attname for expression, alias in columns)
    converters = compiler.get_converters([expression for expression, _ in columns])
    return CompiledQuery(sql, parameters, names, compiler, converters)


def get_providers(capability: str) -> list[ProviderRow]:
    """Return all providers of a capability with state and metrics, unordered."""
    query = compile_provider_query(connection.vendor)
    windows = MetricWindows.ending_at(timezone.now())
    adapt_datetime = connection.ops.adapt_datetimefield_value
    values: dict[Any, Any] = {Placeholder.CAPABILITY: capability}
    for name in WINDOW_NAMES:
        value = getattr(windows, name)
        is_datetime = isinstance(value, datetime)
        values[Placeholder(name)] = adapt_datetime(value) if is_datetime else value
    parameters = [values.get(parameter, parameter) for parameter in query.parameters]
    with prepared_cursor() as cursor:
        cursor.execute(query.sql, parameters)
        rows = cursor.fetchall()
    converted = query.compiler.apply_converters(rows, query.converters)
    return [ProviderRow(query.names, tuple(row)) for row in converted]
