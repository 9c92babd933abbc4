"""Admin pages of API tokens: create a token, show it once, delete it."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from knox.models import AuthToken
from knox.settings import knox_settings

if TYPE_CHECKING:
    # Knox has no type hints.
    ModelForm = forms.ModelForm[Any]
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelForm = forms.ModelForm
    ModelAdmin = admin.ModelAdmin

admin.site.unregister(AuthToken)


class TokenForm(ModelForm):
    """The user and the expiry of a new token, which is generated on saving."""

    class Meta:
        model = AuthToken
        fields = ["user", "expiry"]
        help_texts = {"expiry": "Leave empty for 90 days."}

    def clean_expiry(self) -> datetime | None:
        expiry: datetime | None = self.cleaned_data["expiry"]
        if expiry and expiry <= timezone.now():
            raise forms.ValidationError("The expiry must be in the future.")
        return expiry

    def save(self, commit: bool = True) -> AuthToken:
        """Create the token, even if `commit` is false, and keep its secret."""
        expiry = self.cleaned_data["expiry"]
        lifetime = expiry - timezone.now() if expiry else knox_settings.TOKEN_TTL
        token, self.secret = AuthToken.objects.create(
            self.cleaned_data["user"], expiry=lifetime
        )
        return token

    def save_m2m(self) -> None:
        """Do nothing: the admin calls this, but tokens have no such relations."""


@admin.register(AuthToken)
class TokenAdmin(ModelAdmin):
    form = TokenForm
    list_display = ["user", "token_prefix", "created", "expiry"]
    list_select_related = ["user"]
    list_filter = ["user"]
    search_fields = ["user__username"]
    date_hierarchy = "created"

    @admin.display(description="Starts with")
    def token_prefix(self, token: AuthToken) -> str:
        return f"{token.token_key[:8]}…"

    def has_change_permission(
        self, request: HttpRequest, obj: AuthToken | None = None
    ) -> bool:
        return False

    def save_model(
        self, request: Any, obj: AuthToken, form: TokenForm, change: bool
    ) -> None:
        """Pass on the secret; the form has already saved the token."""
        request.token_secret = form.secret

    def response_add(
        self, request: Any, obj: AuthToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the token; only its hash is stored, so no other page can show it."""
        context = {
            **self.admin_site.each_context(request),
            "title": "New token",
            "opts": self.opts,
            "token": obj,
            "secret": request.token_secret,
        }
        response = TemplateResponse(request, "admin/knox/token.html", context)
        add_never_cache_headers(response)
        return response
