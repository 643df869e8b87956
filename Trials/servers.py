"""Servers on loopback, which the origins of the trials are made of; as a program, prints a free port."""
import random, socket, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def text(self, s):
        b = s.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(b)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(b)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


def started(handler, port=0):
    """A server for this class of handlers, which runs until the program ends; on a free port if this is 0."""
    server = Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Lines(threading.Thread):
    """A connection of an origin that may break the protocol: answer(lines) reads a request and answers it; false ends
    the connection."""

    def __init__(self, connection, rnd):
        super().__init__(daemon=True)
        self.connection, self.rnd = connection, rnd
        connection.settimeout(30)

    def run(self):
        try:
            with self.connection, self.connection.makefile("rb") as lines:
                while self.answer(lines):
                    pass
        except (OSError, ValueError):
            pass


def listen(origin, numbers):
    """Makes an origin for each connection, with the next generator of random numbers; the port."""
    server = socket.create_server(("127.0.0.1", 0), backlog=500)

    def accept():
        for rnd in numbers:
            origin(server.accept()[0], rnd).start()
    threading.Thread(target=accept, daemon=True).start()
    return server.getsockname()[1]


def free_port():
    """A port for a server that is started later. The system gives no socket a port of this range without being asked for
    it (32768 and above, ip(7)); one that it chose itself it may choose again before that server listens."""
    while True:
        port = random.randrange(10_000, 32_768)
        try:
            with socket.create_server(("127.0.0.1", port)):
                if port not in given:
                    given.add(port)
                    return port
        except OSError:
            pass


given = set()

if __name__ == "__main__":
    print(free_port())
