"""All providers of a capability, by a query that is written once.

The ORM takes several times as long to write this SQL and to make models of its rows as
a database does to answer; and callers ask this before each request of theirs.
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

from .models import CapabilityRegistration, Moments, Offer

# What no answer about providers tells.
UNUSED = (
    *("window", "health_check_url", "declared", "drain_until"),
    *("registered_at", "updated_at", "requests_total"),
)


class Provider(Offer):
    """One row of it: an offer to be read, not to be saved."""

    def __init__(self, names: tuple[str, ...], row: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(names, row, strict=True))
        self.pk = self.__dict__["id"]


# Where a value belongs that only the asking brings.
Later = Enum("Later", ["capability", *(moment.name for moment in fields(Moments))])


@dataclass(frozen=True)
class Written:
    """The query in a database's dialect; its parameters, or what stands for them."""

    sql: str
    parameters: tuple[Any, ...]
    names: tuple[str, ...]
    compiler: Any
    converters: Any


@cache
def written(vendor: str) -> Written:
    place = {later.name: RawSQL("%s", [later]) for later in Later}
    capability = place.pop("capability")
    since = Moments(**place)
    everyone = CapabilityRegistration.objects.present(since.now).with_state()
    found = everyone.with_figures(since).filter(capability=capability)
    compiler = found.defer(*UNUSED).query.get_compiler(DEFAULT_DB_ALIAS)
    sql, parameters = compiler.as_sql()
    columns = [(expression, alias) for expression, _, alias in compiler.select]
    names = tuple(alias or expression.target.attname for expression, alias in columns)
    converters = compiler.get_converters([expression for expression, _ in columns])
    return Written(sql, parameters, names, compiler, converters)


def providers(capability: str) -> list[Provider]:
    """Everybody registered for it, with state and figures; in no promised order."""
    query = written(connection.vendor)
    moments = Moments.until(timezone.now())
    adapted = connection.ops.adapt_datetimefield_value
    values: dict[Any, Any] = {Later.capability: capability}
    for moment in fields(Moments):
        value = getattr(moments, moment.name)
        told = adapted(value) if isinstance(value, datetime) else value
        values[Later[moment.name]] = told
    filled = [values.get(parameter, parameter) for parameter in query.parameters]
    with prepared_cursor() as cursor:
        cursor.execute(query.sql, filled)
        rows = cursor.fetchall()
    told = query.compiler.apply_converters(rows, query.converters)
    return [Provider(query.names, tuple(row)) for row in told]
