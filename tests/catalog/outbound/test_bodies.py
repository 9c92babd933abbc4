"""Size limits and decompression of response bodies."""

import gzip
import tracemalloc
import zlib

import pytest

from catalog.outbound.errors import FetchFailed
from catalog.outbound.http import fetch
from tests.servers import (
    MEGABYTE,
    gzip_reply,
    reply,
    response_head,
    send_endless_body,
    send_gzip_bomb,
)


async def test_endless_body_is_rejected(server):
    server.routes["/"] = send_endless_body

    with pytest.raises(
        FetchFailed, match=r"The response of 127\.0\.0\.1 is larger than 1048576 bytes"
    ):
        await fetch(server.url("/"))


@pytest.mark.parametrize("build_reply", [lambda body: reply(body=body), gzip_reply])
async def test_body_over_size_limit_is_rejected(build_reply, server):
    server.routes["/fits"] = build_reply(b"x" * MEGABYTE)
    server.routes["/over"] = build_reply(b"x" * (MEGABYTE + 1))

    assert (await fetch(server.url("/fits"))).body == b"x" * MEGABYTE
    with pytest.raises(
        FetchFailed, match=r"The response of 127\.0\.0\.1 is larger than 1048576 bytes"
    ):
        await fetch(server.url("/over"))


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("", bytes),
        ("identity", bytes),
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
    ],
)
async def test_body_is_decompressed_by_content_encoding(encoding, compress, server):
    compressed = compress(b"hello " * 1000)
    server.routes["/"] = reply(body=compressed, content_encoding=encoding)

    assert (await fetch(server.url("/"))).body == b"hello " * 1000
    assert server.requests[0].headers["Accept-Encoding"] == "gzip"


HELLO = gzip.compress(b"hello", mtime=0)


INVALID_GZIP_BODIES = {
    "empty": b"",
    "not-compressed": b"hello",
    "one-byte-missing": HELLO[:-1],
    "truncated": HELLO[:-9],
    "header-only": HELLO[:10],
    "wrong-checksum": HELLO[:-8] + b"\0" * 8,
    "trailing-data": HELLO + b"more",
    "second-member": HELLO + HELLO,
    "raw-deflate": zlib.compress(b"hello")[2:-4],
}


@pytest.mark.parametrize("body", INVALID_GZIP_BODIES.values(), ids=INVALID_GZIP_BODIES)
async def test_invalid_gzip_body_is_rejected(body, server):
    server.routes["/"] = reply(body=body, content_encoding="gzip")

    error = (
        r"The response of 127\.0\.0\.1 is not valid gzip or deflate$|"
        r"The compressed response of 127\.0\.0\.1 is truncated"
        r" or followed by more data$"
    )
    with pytest.raises(FetchFailed, match=error):
        await fetch(server.url("/"))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "x" * 99])
async def test_unsupported_content_encoding_is_rejected(encoding, server):
    server.routes["/"] = reply(body=HELLO, content_encoding=encoding)

    with pytest.raises(FetchFailed, match="unknown encoding") as caught:
        await fetch(server.url("/"))
    assert len(str(caught.value)) < 100


async def test_only_one_layer_of_gzip_is_decompressed(server):
    server.routes["/"] = gzip_reply(HELLO)
    assert (await fetch(server.url("/"))).body == HELLO


async def test_data_after_gzip_body_stops_reading(server):
    chunks = []

    def send_trailing_data(request):
        yield response_head(content_encoding="gzip") + HELLO
        while len(chunks) < 1000:
            chunks.append(b"junk" * 16_384)
            yield chunks[-1]

    server.routes["/"] = send_trailing_data
    with pytest.raises(FetchFailed):
        await fetch(server.url("/"))
    assert len(chunks) < 1000


async def test_gzip_bomb_is_rejected_with_little_memory(server):
    server.routes["/"] = reply(body=b"first fetch, which imports modules")
    await fetch(server.url("/"))
    server.routes["/"] = send_gzip_bomb
    tracemalloc.start()
    try:
        with pytest.raises(
            FetchFailed, match=r"127\.0\.0\.1 is larger than 1048576 bytes"
        ):
            await fetch(server.url("/"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * MEGABYTE
