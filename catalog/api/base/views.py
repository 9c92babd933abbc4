"""What every view of the API is made of, whatever the project's own defaults are."""

from drf_spectacular.openapi import AutoSchema
from rest_framework.settings import api_settings

from .error_responses import exception_handler
from .pagination import StrictPagination
from .parsers import StrictJSONParser
from .permissions import CatalogPermissions
from .renderers import Negotiation, ORJSONRenderer
from .strict import StrictParameters


class CatalogAPIMixin(StrictParameters):
    """Closed by default, strict about parameters, and with one shape for errors."""

    # Who asks is the project's to find out; what they may do is decided here.
    authentication_classes = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    permission_classes = [CatalogPermissions]
    parser_classes = [StrictJSONParser]
    renderer_classes = [ORJSONRenderer]
    content_negotiation_class = Negotiation
    pagination_class = StrictPagination
    filter_backends = []
    metadata_class = None
    versioning_class = None
    schema = AutoSchema()

    def get_exception_handler(self):
        return exception_handler
