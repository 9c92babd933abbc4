"""API tokens in the admin: made, shown once, taken away."""

from django import forms
from django.contrib import admin
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from knox.models import AuthToken
from knox.settings import knox_settings

admin.site.unregister(AuthToken)


class TokenForm(forms.ModelForm):
    """For whom, and until when; the token itself is made on saving."""

    class Meta:
        model = AuthToken
        fields = ["user", "expiry"]
        help_texts = {"expiry": "Leave empty for 90 days."}

    def clean_expiry(self):
        expiry = self.cleaned_data["expiry"]
        if expiry and expiry <= timezone.now():
            raise forms.ValidationError("That is in the past.")
        return expiry

    def save(self, commit=True):
        expiry = self.cleaned_data["expiry"]
        until = expiry - timezone.now() if expiry else knox_settings.TOKEN_TTL
        token, self.secret = AuthToken.objects.create(
            self.cleaned_data["user"], expiry=until
        )
        return token

    def save_m2m(self):
        """There is nothing of the kind."""


@admin.register(AuthToken)
class TokenAdmin(admin.ModelAdmin):
    form = TokenForm
    list_display = ["user", "starts_with", "created", "expiry"]
    list_select_related = ["user"]
    list_filter = ["user"]
    search_fields = ["user__username"]
    date_hierarchy = "created"

    @admin.display(description="Starts with")
    def starts_with(self, token):
        return f"{token.token_key[:8]}…"

    def has_change_permission(self, request, obj=None):
        return False

    def save_model(self, request, token, form, change):
        """Saved already: hashing and storing a token are one step."""
        request.new_token = form.secret

    def response_add(self, request, token, post_url_continue=None):
        """The only page that ever shows the token."""
        context = {
            **self.admin_site.each_context(request),
            "title": "A new token",
            "opts": self.opts,
            "token": token,
            "secret": request.new_token,
        }
        response = TemplateResponse(request, "admin/knox/token.html", context)
        add_never_cache_headers(response)
        return response
