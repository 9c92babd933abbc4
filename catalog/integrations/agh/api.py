"""AGH over HTTP: one door for envelopes, two to look at what is known of a peer."""

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.response import Response
from rest_framework.views import APIView

from capabilities.protocols.agh import CHANNEL as CHANNEL_NAME
from capabilities.protocols.agh import Envelope, ReasonCode, TooLarge
from capabilities.protocols.agh import Refusal as NotTaken

from ...api.base import (
    BodyTooLarge,
    CanReadCatalog,
    CapabilityNotFound,
    CatalogAPIMixin,
    DefinitionParser,
    InvalidParameter,
    PeerNotFound,
    Refusal,
)
from .directory import Peer, find_peer
from .inbox import take
from .responder import transfer

ADD = "catalog.add_catalogentry"
ANSWERS = {
    ReasonCode.VERIFICATION_FAILED: (422, "VERIFICATION_FAILED"),
    ReasonCode.DUPLICATE: (409, "CONFLICT"),
    ReasonCode.NOT_TARGET: (404, "PEER_NOT_FOUND"),
    ReasonCode.NOT_FOUND: (404, "PEER_NOT_FOUND"),
    ReasonCode.BUSY: (429, "RATE_LIMITED"),
}
CHANNEL = OpenApiParameter(
    "channel", str, description="Instead of the one it was last heard in."
)
WHOIS = {
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


class EnvelopeRefused(Refusal):
    """A refusal in AGH's own words, in the API's one shape."""

    def __init__(self, refused: NotTaken):
        told = {"reason_code": refused.reason_code.value, "path": refused.path}
        super().__init__(f"{refused.path} {refused.message}", **told)
        usual = (413, "BODY_TOO_LARGE") if isinstance(refused, TooLarge) else None
        status, code = usual or ANSWERS.get(refused.reason_code, (400, "INVALID_BODY"))
        self.status_code, self.default_code = status, code


class EnvelopesSerializer(serializers.Serializer):
    envelopes = serializers.ListField(child=serializers.DictField())


class EnvelopesView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]
    parser_classes = [DefinitionParser]

    @extend_schema(
        summary="Send an AGH envelope",
        request={"application/json": OpenApiTypes.OBJECT},
        responses=EnvelopesSerializer,
        examples=[OpenApiExample("Ask for a catalog", WHOIS, request_only=True)],
    )
    def post(self, request):
        """Greet, ask whois, or hand a capability over; the envelopes said in return.

        Whois needs the role Viewer, everything that is kept Editor.
        """
        try:
            now = int(timezone.now().timestamp())
            envelope = Envelope.parse(request.data or b"", now)
            if is_kept(envelope) and not request.user.has_perm(ADD):
                known = request.user.is_authenticated
                raise PermissionDenied if known else NotAuthenticated
            said = take(envelope)
        except NotTaken as refused:
            raise EnvelopeRefused(refused) from refused
        except BodyTooLarge as error:
            large = TooLarge(ReasonCode.MALFORMED, str(error.detail))
            raise EnvelopeRefused(large) from error
        return Response({"envelopes": [one.raw for one in said]})

    def throttled(self, request, wait):
        busy = NotTaken(ReasonCode.BUSY, "is one of too many in a minute")
        refused = EnvelopeRefused(busy)
        refused.wait = wait
        raise refused


def is_kept(envelope: Envelope) -> bool:
    return envelope.is_handled and not envelope.is_request


class PeerView(CatalogAPIMixin, APIView):
    permission_classes = [CanReadCatalog]
    takes = ("channel",)

    @extend_schema(
        summary="Read a peer's card",
        parameters=[CHANNEL],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request, peer_id):
        """As it greeted last."""
        return Response(self.peer(request, peer_id).card.to_wire())

    def peer(self, request, peer_id) -> Peer:
        channel = request.query_params.get("channel", "")
        if channel and not CHANNEL_NAME.fullmatch(channel):
            message = f"channel must match {CHANNEL_NAME.pattern}"
            raise InvalidParameter(message, parameter="channel")
        found = find_peer(peer_id, channel)
        if found is None:
            raise PeerNotFound(peer_id=peer_id[:128])
        return found


class TransferView(PeerView):
    @extend_schema(
        summary="Read a capability as its transfer",
        parameters=[CHANNEL],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request, peer_id, capability_id):
        """The envelope that hands over a document which is known in full."""
        try:
            envelope = transfer(self.peer(request, peer_id), capability_id)
        except NotTaken as refused:
            raise EnvelopeRefused(refused) from refused
        if envelope is None:
            told = {"peer_id": peer_id[:128], "capability_id": capability_id[:128]}
            raise CapabilityNotFound("Not known in full from this peer", **told)
        return Response(envelope)
