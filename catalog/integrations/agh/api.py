"""AGH over HTTP: send envelopes, and read what the catalog knows of a peer."""

from typing import Any, Never

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from capabilities.protocols.agh import (
    CHANNEL_PATTERN,
    Envelope,
    EnvelopeError,
    EnvelopeTooLarge,
    ReasonCode,
)

from ...api.base import (
    APIError,
    BodyTooLarge,
    CanReadCatalog,
    CapabilityNotFound,
    CatalogAPIMixin,
    DefinitionParser,
    InvalidParameter,
    PeerNotFound,
)
from .directory import Peer, find_peer
from .inbox import process_envelope
from .responder import Responses, build_transfer

ADD_PERMISSION = "catalog.add_catalogentry"
# The status and the error code of each reason; other reasons are a 400.
RESPONSE_BY_REASON = {
    ReasonCode.VERIFICATION_FAILED: (422, "VERIFICATION_FAILED"),
    ReasonCode.DUPLICATE: (409, "CONFLICT"),
    ReasonCode.NOT_TARGET: (404, "PEER_NOT_FOUND"),
    ReasonCode.NOT_FOUND: (404, "PEER_NOT_FOUND"),
    ReasonCode.BUSY: (429, "RATE_LIMITED"),
}
CHANNEL_PARAMETER = OpenApiParameter(
    "channel",
    str,
    description="The AGH channel of the peer; by default the one in which the peer "
    "sent its latest greeting.",
)
WHOIS_EXAMPLE = {
    "protocol": "agh-network/v0",
    "id": "msg_whois_catalog_001",
    "kind": "whois",
    "channel": "builders",
    "from": "ops-coordinator.session-42",
    "to": "designer.session-19",
    "ts": 1776366060,
    "body": {"type": "request", "query": "build-site"},
    "ext": {"agh.include": ["capability_catalog"]},
    "proof": None,
}


class EnvelopeAPIError(APIError):
    """An envelope error as an API error; the details have AGH's reason code."""

    def __init__(self, error: EnvelopeError, wait: float | None = None) -> None:
        super().__init__(
            f"{error.path} {error.message}",
            reason_code=error.reason_code.value,
            path=error.path,
        )
        self.status_code, self.default_code = get_status_and_code(error)
        if wait is not None:
            self.wait = wait


def get_status_and_code(error: EnvelopeError) -> tuple[int, str]:
    if isinstance(error, EnvelopeTooLarge):
        return 413, "BODY_TOO_LARGE"
    return RESPONSE_BY_REASON.get(error.reason_code, (400, "INVALID_BODY"))


class OmittedResponseSerializer(serializers.Serializer[Any]):
    peer_id = serializers.CharField()
    message = serializers.CharField()


class EnvelopesSerializer(serializers.Serializer[Responses]):
    envelopes = serializers.ListField(child=serializers.DictField())
    omitted = OmittedResponseSerializer(
        many=True,
        required=False,
        help_text="Responses to a broadcast that are not sent because they exceed a"
        " limit. Missing if there are none.",
    )


class EnvelopesView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]
    parser_classes = [DefinitionParser]

    @extend_schema(
        summary="Send an AGH envelope",
        request={"application/json": OpenApiTypes.OBJECT},
        responses=EnvelopesSerializer,
        examples=[
            OpenApiExample("Request a catalog", WHOIS_EXAMPLE, request_only=True)
        ],
    )
    def post(self, request: Request) -> Response:
        """Process a greeting, whois request or capability and return the responses.

        Whois requests need the Viewer role. Envelopes that change the catalog need
        the Editor role.
        """
        try:
            now = int(timezone.now().timestamp())
            envelope = Envelope.parse(request.data or b"", now)
            check_permission(request, envelope)
            responses = process_envelope(envelope)
        except EnvelopeError as error:
            raise EnvelopeAPIError(error) from error
        except BodyTooLarge as error:
            too_large = EnvelopeTooLarge(ReasonCode.MALFORMED, str(error.detail))
            raise EnvelopeAPIError(too_large) from error
        return Response(serialize_responses(responses))

    def throttled(self, request: Request, wait: float) -> Never:
        busy = EnvelopeError(ReasonCode.BUSY, "exceeds the request rate limit")
        raise EnvelopeAPIError(busy, wait)


def serialize_responses(responses: Responses) -> dict[str, object]:
    body: dict[str, object] = {
        "envelopes": [envelope.raw for envelope in responses.envelopes]
    }
    if responses.omitted:
        serializer = OmittedResponseSerializer(responses.omitted, many=True)
        body["omitted"] = serializer.data
    return body


def check_permission(request: Request, envelope: Envelope) -> None:
    """Raise an API error if the user may not change the catalog by this envelope."""
    is_read_only = envelope.is_whois_request or not envelope.is_handled
    if is_read_only or request.user.has_perm(ADD_PERMISSION):
        return
    raise PermissionDenied if request.user.is_authenticated else NotAuthenticated


class PeerAPIView(CatalogAPIMixin, APIView):
    """Base of the views for one peer."""

    permission_classes = [CanReadCatalog]
    allowed_parameters = ("channel",)

    def get_peer(self, request: Request, peer_id: str) -> Peer:
        channel = request.query_params.get("channel", "")
        if channel and not CHANNEL_PATTERN.fullmatch(channel):
            message = f"channel must match {CHANNEL_PATTERN.pattern}"
            raise InvalidParameter(message, parameter="channel")
        peer = find_peer(peer_id, channel)
        if peer is None:
            raise PeerNotFound(peer_id=peer_id[:128])
        return peer


class PeerView(PeerAPIView):
    @extend_schema(
        summary="Get the card of an AGH peer",
        parameters=[CHANNEL_PARAMETER],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, peer_id: str) -> Response:
        """Return the peer card from the latest greeting."""
        return Response(self.get_peer(request, peer_id).card.to_wire())


class TransferView(PeerAPIView):
    @extend_schema(
        summary="Get a capability of an AGH peer as a transfer envelope",
        parameters=[CHANNEL_PARAMETER],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, peer_id: str, capability_id: str) -> Response:
        """Return an envelope that transfers the capability document.

        Only capabilities whose full document is in the catalog can be transferred.
        """
        try:
            envelope = build_transfer(self.get_peer(request, peer_id), capability_id)
        except EnvelopeError as error:
            raise EnvelopeAPIError(error) from error
        if envelope is None:
            raise CapabilityNotFound(
                "The catalog has no full document of this capability from this peer",
                peer_id=peer_id[:128],
                capability_id=capability_id[:128],
            )
        return Response(envelope)
