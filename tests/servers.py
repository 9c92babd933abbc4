"""Real HTTP servers on loopback, and well-behaved and hostile responses for them."""

import gzip
import ipaddress
import socket
import socketserver
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.client import parse_headers
from itertools import chain, repeat
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]
MEGABYTE = 1_048_576


def parse_networks(
    *networks: str,
) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return networks for the setting AGENTLENS_ALLOWED_NETWORKS."""
    return [ipaddress.ip_network(network) for network in networks]


@dataclass(frozen=True)
class Request:
    path: str
    headers: Message
    body: bytes = b""
    method: str = "GET"


Route = bytes | Callable[[Request], Iterable[bytes]]


class Server(socketserver.ThreadingTCPServer):
    """A server that sends the bytes of its routes and records the requests."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 32

    def __init__(self, host: str, port: int, tls: Path | None) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), Handler)
        self.host, self.port = self.server_address[:2]
        self.scheme = "https" if tls else "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.routes: dict[str, Route] = {}
        self.requests: list[Request] = []
        self.stopped = threading.Event()

    @property
    def paths(self) -> list[str]:
        """The paths of all GET requests, in order."""
        return [request.path for request in self.requests if request.method == "GET"]

    def url(self, path: str = "", host: str = "") -> str:
        name = host or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"{self.scheme}://{name}:{self.port}{path}"

    def handle_error(self, request, client_address) -> None:
        """Ignore errors, because many tests disconnect early on purpose."""


class Handler(socketserver.StreamRequestHandler):
    timeout = 10

    def handle(self) -> None:
        method, path, _ = self.rfile.readline().decode("latin-1").split()
        headers = parse_headers(self.rfile)
        body = self.rfile.read(int(headers.get("Content-Length", 0)))
        request = Request(path, headers, body, method)
        self.server.requests.append(request)
        route = self.server.routes.get(path, reply(404))
        with suppress(OSError):
            for chunk in route(request) if callable(route) else [route]:
                if self.server.stopped.is_set():
                    return
                self.wfile.write(chunk)


@contextmanager
def run_server(
    host: str = "127.0.0.1", port: int = 0, tls: Path | None = None
) -> Iterator[Server]:
    """Run a server in a thread; `tls` is a file with a key and its certificate."""
    with Server(host, port, tls) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()


def response_head(status: int = 200, **headers: object) -> bytes:
    """Return status line and headers; `content_length=5` is `content-length: 5`."""
    lines = [f"HTTP/1.1 {status} Reason", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def reply(status: int = 200, body: bytes = b"", **headers: object) -> bytes:
    return response_head(status, content_length=len(body), **headers) + body


def redirect(location: str, status: int = 302) -> bytes:
    return reply(status, location=location)


def gzip_reply(body: bytes) -> bytes:
    # Without the time, so that all workers of a test run build the same parameters.
    return reply(body=gzip.compress(body, mtime=0), content_encoding="gzip")


def never_respond(request: Request) -> Iterator[bytes]:
    """Send nothing for 30 seconds or until the server is stopped."""
    for _ in range(600):
        time.sleep(0.05)
        yield b""


def send_slow_body(request: Request) -> Iterator[bytes]:
    """Send a byte every 50 ms, so that no single read takes long."""
    yield response_head(content_length=1000)
    for _ in range(600):
        time.sleep(0.05)
        yield b" "


def send_partial_body(request: Request) -> Iterator[bytes]:
    """Announce a terabyte, then send nothing."""
    return chain([response_head(content_length=10**12)], never_respond(request))


def send_endless_body(request: Request) -> Iterator[bytes]:
    return chain([response_head()], repeat(b" " * 65_536, 1024))


def send_gzip_bomb(request: Request) -> Iterator[bytes]:
    """Send a gigabyte of zeros, compressed to a megabyte."""
    compressor = zlib.compressobj(wbits=31)
    start = compressor.compress(b"") + compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(bytes(MEGABYTE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    head = response_head(content_encoding="gzip")
    return chain([head, start], repeat(block * 64, 16))


def create_certificate(name: str, path: Path) -> Path:
    """Write a self-signed certificate for a host name, with its key, to a file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now, day = datetime.now(UTC), timedelta(days=1)
    builder = x509.CertificateBuilder(
        issuer_name=subject,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - day,
        not_valid_after=now + day,
    ).add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    pem = serialization.Encoding.PEM
    path.write_bytes(
        key.private_bytes(
            pem,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + builder.sign(key, hashes.SHA256()).public_bytes(pem)
    )
    return path
