"""A port ends without a reset."""

import http.client
import socket
import sys

import httpx
import pytest
from serving import Stub, running

from seq2see.serve.last_connection import keep_new_away, waiting


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.setblocking(False)
        yield made


def test_connections_that_wait_are_taken_in_their_order(listener):
    clients = [socket.create_connection(listener.getsockname()) for _ in range(3)]
    taken = waiting(listener)
    assert [one.getpeername() for one in taken] == [one.getsockname() for one in clients]
    assert waiting(listener) == []
    for one in clients + taken:
        one.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux filters packets for a program")
def test_only_new_connections_are_kept_away(listener):
    with socket.create_connection(listener.getsockname()) as before:
        keep_new_away(listener)
        with pytest.raises(TimeoutError):
            socket.create_connection(listener.getsockname(), timeout=0.3)
        taken, = waiting(listener)
        with taken:
            before.sendall(b"still heard")
            assert taken.recv(100) == b"still heard"


def test_a_connection_that_nobody_took_is_answered_when_the_server_stops(monkeypatch):
    late, kept_away = [], []

    def connect_last(listener):
        assert kept_away == [listener], "new ones are kept away first"
        late.append(http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1], timeout=60))
        late[0].connect()
        late[0].request("GET", "/healthz")
        return waiting(listener)

    monkeypatch.setattr("seq2see.serve.server.keep_new_away", kept_away.append)
    monkeypatch.setattr("seq2see.serve.server.waiting", connect_last)
    with running({"stub": Stub}) as server:
        assert httpx.get(f"{server.url}/healthz").status_code == 200
    answer = late[0].getresponse()
    assert (answer.status, answer.headers["connection"]) == (200, "close")
