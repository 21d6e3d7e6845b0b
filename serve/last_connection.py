"""The end of a port without a reset: new connections are kept away first, then those that wait are accepted.

Closing a port resets connections that the system has accepted and the program has not.  Between the program's last
`accept` and the close there is always room for one more, unless packets that begin a connection (SYN) are dropped
before: the client sends again after a second, and finds the port closed, or the next server.  Only Linux can do so.
"""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
import sys

ATTACH_FILTER = 26  # SO_ATTACH_FILTER of Linux, which `socket` does not have
HANDSHAKES = 0.1  # seconds for the connections that have begun
_SYN, _FLAGS = 0x02, 13  # a bit, and the place of its byte in the header of TCP
_PROGRAM = ((0x30, 0, 0, _FLAGS),  # load a byte of the packet
            (0x45, 0, 1, _SYN),  # if the bit is set, go on, else skip one
            (0x06, 0, 0, 0),  # keep no byte
            (0x06, 0, 0, 0xFFFFFFFF))  # keep all


def keep_new_away(listener: socket.socket) -> None:
    """Drop packets that begin connections, where the system can."""
    if sys.platform != "linux":
        return
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in _PROGRAM))
    with contextlib.suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER,
                            struct.pack("HP", len(_PROGRAM), ctypes.addressof(code)))


def waiting(listener: socket.socket) -> list[socket.socket]:
    """The connections that the system has accepted and the program has not."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            found.append(listener.accept()[0])
    return found
