"""Registering from the desk: give a URL or paste, look, then say yes."""

import base64
from dataclasses import asdict, dataclass

from django.contrib import messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from capabilities.kinds import kinds
from capabilities.parsers import ParseError, examine, parse

from ..fetch import FetchError
from ..ingest import Definition, Result, ingest
from ..intake import find
from ..models import Source
from .forms import RegisterForm

SALT = "catalog.admin.register"
TEMPLATE = "admin/catalog/catalogentry/register.html"
TOLD = {
    Result.CREATED: "“{}” is now in the catalog.",
    Result.UPDATED: "“{}” was brought up to date.",
    Result.UNCHANGED: "“{}” is in the catalog already, word for word.",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A definition under review; it travels signed through the browser and back."""

    raw: str
    protocol: str
    url: str = ""
    etag: str = ""

    @classmethod
    def of(cls, raw: bytes, *rest: str) -> "Candidate":
        return cls(base64.b64encode(raw).decode(), *rest)

    @property
    def definition(self) -> bytes:
        return base64.b64decode(self.raw)

    def sealed(self) -> str:
        return signing.dumps(asdict(self), salt=SALT, compress=True)

    @classmethod
    def unsealed(cls, text: str) -> "Candidate":
        return cls(**signing.loads(text, salt=SALT, max_age=24 * 3600))


def register_view(admin, request):
    """One address for the three steps: the form, the preview, the deed."""
    if not admin.has_add_permission(request):
        raise PermissionDenied
    if "sealed" in request.POST:
        return confirm(admin, request)
    form = RegisterForm(request.POST if request.method == "POST" else None)
    context = {"form": form}
    if form.is_valid():
        context |= preview(form)
    return page(admin, request, context)


def preview(form: RegisterForm) -> dict:
    """What would be catalogued, or every reason why not."""
    asked = form.cleaned_data
    try:
        candidate = candidate_of(asked)
    except FetchError as error:
        form.add_error("url", str(error))
        return {}
    except ParseError as error:
        return {"reading": error.reading}
    reading = examine(candidate.definition, candidate.protocol)
    if not reading.valid:
        return {"reading": reading}
    capabilities = [
        {"kind": kind.label, "name": capability.name, "text": capability.description}
        for capability in reading.record.capabilities
        if (kind := kinds.get(capability.kind))
    ]
    return {
        "reading": reading,
        "capabilities": capabilities,
        "sealed": candidate.sealed(),
    }


def candidate_of(asked: dict) -> Candidate:
    if asked["definition"]:
        return Candidate.of(asked["definition"].encode(), asked["protocol"])
    found = find(asked["url"], asked["protocol"])
    fetched = found.fetched
    return Candidate.of(fetched.body, found.record.protocol, fetched.url, fetched.etag)


def confirm(admin, request):
    try:
        candidate = Candidate.unsealed(request.POST["sealed"])
    except signing.BadSignature:
        messages.error(request, "The preview has expired. Please look again.")
        return page(admin, request, {"form": RegisterForm()})
    record, _ = parse(candidate.definition, candidate.protocol)
    source = Source.IMPORT if candidate.url else Source.PUSH
    outcome = ingest(
        Definition(record, candidate.definition, source, candidate.url, candidate.etag)
    )
    entry = outcome.entry
    if outcome.result == Result.CREATED:
        admin.log_addition(request, entry, "Registered from its definition.")
    messages.success(request, TOLD[outcome.result].format(entry))
    place = reverse("admin:catalog_catalogentry_change", args=[entry.pk])
    return HttpResponseRedirect(place)


def page(admin, request, context: dict) -> TemplateResponse:
    context = {
        **admin.admin_site.each_context(request),
        "title": "Register an agent",
        "opts": admin.opts,
        "media": admin.media,
        **context,
    }
    return TemplateResponse(request, TEMPLATE, context)
