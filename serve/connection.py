"""A client's connection, as uvicorn has it, but that the head of a request has a size."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 2**17  # bytes of an address and headers; a text of 5,000 characters in an address has 60,000 at most


class Connection(HttpToolsProtocol):
    """Closed once a head is larger: uvicorn would gather it without end, and hold up the event loop meanwhile."""

    _head = 0  # bytes that came since the end of the last request, until the end of this one's head

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request has {MOST_HEAD} bytes at most.")

    def on_headers_complete(self) -> None:
        self._head = -(2**62)  # what comes now is body, which the guard counts
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._head = 0
