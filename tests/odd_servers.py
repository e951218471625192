"""Servers on this machine that behave as no server should, one answer a connection; and a slow line to a good one."""

from __future__ import annotations

import base64
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

Answer = Callable[[socket.socket, threading.Event], None]


@dataclass
class OddServer:
    port: int
    asked: list[str]  # requests, as they came

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"


def drip(connection: socket.socket, over: threading.Event) -> None:
    """A byte at a time, for ever: no socket's timeout ends it."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not over.wait(0.2):
        connection.sendall(b" ")


def stay_silent(connection: socket.socket, over: threading.Event) -> None:
    over.wait()


def reset(connection: socket.socket, over: threading.Event) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def redirect(location: str, after: float = 0.0) -> Answer:
    def answer(connection: socket.socket, over: threading.Event) -> None:
        over.wait(after)
        head = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())

    return answer


def refuse(status: int, text: str = "no") -> Answer:
    def answer(connection: socket.socket, over: threading.Event) -> None:
        head = f"HTTP/1.1 {status} No\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
        connection.sendall((head + text).encode())

    return answer


def echo(connection: socket.socket, head: str) -> None:
    """A server whose error quotes the request, as helpful ones do, and how it read a password; what matters first."""
    lines = sorted(head.split("\r\n"), key=lambda line: not line.lower().startswith("authorization"))
    kind, _, credentials = lines[0].partition(": ")[2].partition(" ")
    read = base64.b64decode(credentials).decode() if kind == "Basic" else credentials
    refuse(401, f"not for {read}: {lines}")(connection, threading.Event())


@contextmanager
def odd_server(answer: Answer | None = None) -> Iterator[OddServer]:
    """Answers every connection in this way (None: with what was asked) until the block ends."""
    over, asked = threading.Event(), list[str]()

    def converse(connection: socket.socket) -> None:
        head = connection.recv(65536).decode("latin-1")
        if not head:  # somebody only looked whether we are there
            return
        asked.append(head)
        if answer is None:
            echo(connection, head)
        else:
            answer(connection, over)

    with _listening(converse) as port:
        try:
            yield OddServer(port, asked)
        finally:
            over.set()


@contextmanager
def slow_line(port: int, pause: float) -> Iterator[OddServer]:
    """A line to a server on this machine that holds up every part of a question, and loses nothing."""
    asked: list[str] = []

    def converse(connection: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", port)) as server:
            threading.Thread(target=_pass_on, args=[server, connection], daemon=True).start()
            while part := connection.recv(1 << 20):
                asked.append(part.decode("latin-1"))
                time.sleep(pause)
                server.sendall(part)

    with _listening(converse) as own:
        yield OddServer(own, asked)


def _pass_on(giver: socket.socket, taker: socket.socket) -> None:
    with suppress(OSError):
        while part := giver.recv(1 << 20):
            taker.sendall(part)
        taker.shutdown(socket.SHUT_WR)


@contextmanager
def _listening(converse: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port each of whose connections gets a thread."""

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            converse(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=[listening.accept()[0]], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listening.getsockname()[1]
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
