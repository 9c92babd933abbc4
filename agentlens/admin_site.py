from django.contrib import admin
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest


class AgentLensAdminSite(admin.AdminSite):
    """An admin site for all users who may edit the catalog, not only for staff."""

    site_header = site_title = "AgentLens"
    index_title = "Administration"
    # The lists are wide.
    enable_nav_sidebar = False
    # The default form rejects users who are not staff.
    login_form = AuthenticationForm

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        return user.is_active and (
            user.is_staff or user.has_perm("catalog.change_catalogentry")
        )
