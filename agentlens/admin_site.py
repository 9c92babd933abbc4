from django.contrib import admin
from django.contrib.auth.forms import AuthenticationForm


class AgentLensAdminSite(admin.AdminSite):
    """The curator's desk: open to everyone who may change the catalog."""

    site_header = site_title = "AgentLens"
    index_title = "Curator's desk"
    # Lists need the room.
    enable_nav_sidebar = False
    # Django's own would turn away editors, who are no "staff".
    login_form = AuthenticationForm

    def has_permission(self, request):
        user = request.user
        return user.is_active and (
            user.is_staff or user.has_perm("catalog.change_catalogentry")
        )
