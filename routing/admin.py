from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import JSONField
from django.http import Http404, HttpRequest

from catalog.forms import JSONObjectField

from . import service
from .models import CapabilityRegistration, RegistrationQuerySet
from .service import AlreadyRegisteredError

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[CapabilityRegistration]
else:
    ModelAdmin = admin.ModelAdmin


@admin.register(CapabilityRegistration)
class CapabilityRegistrationAdmin(ModelAdmin):
    """Registrations; most of them are made through the API."""

    list_display = [
        "capability",
        "entry",
        "version",
        "priority",
        "desired_state",
        "health",
    ]
    list_filter = ["desired_state", "declared"]
    search_fields = ["capability", "entry__display_name"]
    list_select_related = ["entry"]
    formfield_overrides = {JSONField: {"form_class": JSONObjectField}}
    autocomplete_fields = ["entry"]
    readonly_fields = ["registered_at", "updated_at", "declared"]
    fields = [
        "entry",
        "capability",
        "version",
        "priority",
        "desired_state",
        "metadata",
        "health_check_url",
        *readonly_fields,
    ]

    def get_queryset(self, request: HttpRequest) -> RegistrationQuerySet:
        return CapabilityRegistration.objects.with_state().defer("window")

    def get_readonly_fields(
        self, request: HttpRequest, obj: CapabilityRegistration | None = None
    ) -> list[str]:
        fixed_fields = ["entry", "capability"] if obj else []
        return [*fixed_fields, *self.readonly_fields]

    @admin.display(description="Health")
    def health(self, registration: CapabilityRegistration) -> str:
        return registration.health

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Return the registrations only; their counts could be thousands of rows."""
        registrations = [str(registration) for registration in objs]
        return registrations, {"registrations": len(registrations)}, set(), []

    def save_model(
        self,
        request: HttpRequest,
        obj: CapabilityRegistration,
        form: "forms.ModelForm[CapabilityRegistration]",
        change: bool,
    ) -> None:
        """Save through the service, which publishes events."""
        try:
            if change:
                changes = {name: form.cleaned_data[name] for name in form.changed_data}
                service.update(obj, changes)
            else:
                service.add_registration(obj)
        except (CapabilityRegistration.DoesNotExist, AlreadyRegisteredError) as error:
            # Another user removed or added it after the form was validated.
            raise Http404(
                "Another user added or removed this registration. Reload the list of"
                " registrations."
            ) from error
