from django.contrib import admin
from django.db.models import JSONField
from django.http import Http404

from catalog.forms import JSONObjectField

from . import service
from .models import CapabilityRegistration
from .service import AlreadyRegisteredError


@admin.register(CapabilityRegistration)
class CapabilityRegistrationAdmin(admin.ModelAdmin):
    """Offers to take traffic; programs make most of them through the API."""

    list_display = ["capability", "entry", "version", "priority", "intent", "health"]
    list_filter = ["intent", "declared"]
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
        "intent",
        "metadata",
        "health_check_url",
        *readonly_fields,
    ]

    def get_queryset(self, request):
        return super().get_queryset(request).with_state().defer("window")

    def get_readonly_fields(self, request, obj=None):
        fixed = ["entry", "capability"] if obj else []
        return [*fixed, *self.readonly_fields]

    @admin.display(description="Health")
    def health(self, registration):
        return registration.health

    def get_deleted_objects(self, objs, request):
        """The offers alone: what is counted of them could be thousands of lines."""
        offers = [str(offer) for offer in objs]
        return offers, {"registrations": len(offers)}, set(), []

    def save_model(self, request, obj, form, change):
        """Through the same door as the API, so that events are told."""
        try:
            if change:
                changes = {n: form.cleaned_data[n] for n in form.changed_data}
                service.update(obj, changes)
            else:
                service.add_registration(obj)
        except (CapabilityRegistration.DoesNotExist, AlreadyRegisteredError) as error:
            # Between looking at the form and writing it down, somebody was quicker.
            raise Http404("Somebody changed this meanwhile") from error
