"""A mixin that sets the policies of API views except authentication, throttling."""

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework.pagination import BasePagination
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.settings import api_settings

from .error_responses import exception_handler
from .pagination import StrictPagination
from .parsers import StrictJSONParser
from .permissions import CatalogPermissions
from .renderers import JSONContentNegotiation, ORJSONRenderer
from .strict import StrictParameters


class CatalogAPIMixin(StrictParameters):
    """Requires permissions, rejects unknown parameters and uses one error format."""

    # The project configures authentication and throttling; all else is set here.
    authentication_classes = (
        api_settings.DEFAULT_AUTHENTICATION_CLASSES  # type: ignore[assignment]  # classes
    )
    permission_classes: Sequence[type[BasePermission]] = [CatalogPermissions]
    parser_classes: Sequence[type[BaseParser]] = [StrictJSONParser]
    renderer_classes = [ORJSONRenderer]
    content_negotiation_class = JSONContentNegotiation
    pagination_class: type[BasePagination] | None = StrictPagination
    filter_backends: Sequence[type[Any]] = []
    metadata_class = None
    versioning_class = None
    schema = AutoSchema()

    def get_exception_handler(
        self,
    ) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return exception_handler
