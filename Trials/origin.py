#!/usr/bin/env python3
"""A small origin on loopback for the trials. Prints its port on the first line.

/size/N[/...]   N bytes derived from the path, Cache-Control: max-age=3600, ETag, Content-Length
/site/page.html a page with a style sheet, a script that changes it, and an image, all max-age=3600
/sha256/PATH    the SHA-256 of what PATH serves
/count          how many bodies were sent so far (GET, status 200)
"""
import hashlib, os, sys, threading
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers

SITE = {
    "/site/page.html": ("text/html", b'<!doctype html><title>t</title><link rel=stylesheet href=style.css>'
                        b'<img src=image.svg><p id=p>not yet</p><script src=script.js></script>'),
    "/site/style.css": ("text/css", b"p { color: red }\n" + b"/* padding */\n" * 4000),
    "/site/script.js": ("text/javascript", b"document.getElementById('p').textContent = 'the script ran';\n"
                        + b"// padding\n" * 8000),
    "/site/image.svg": ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
                        + b"<!-- padding -->" * 10000 + b'<rect width="9" height="9"/></svg>'),
}
PIECE = 1 << 16
count = 0
lock = threading.Lock()


def pieces(path):
    """The bytes of /size/N…: 64 KiB pieces, each headed by a digest of the path and the piece's number."""
    size = int(path.split("/")[2])
    base = hashlib.shake_256(path.encode()).digest(PIECE)
    at = 0
    number = 0
    while at < size:
        head = hashlib.sha256(f"{path}#{number}".encode()).digest()
        piece = head + base[32:]
        yield piece[: min(PIECE, size - at)]
        at += PIECE
        number += 1


def digest(path):
    h = hashlib.sha256()
    for p in pieces(path):
        h.update(p)
    return h.hexdigest()


class Handler(servers.Handler):
    def do_GET(self):
        global count
        if self.path == "/count":
            return self.text(str(count))
        if self.path.startswith("/sha256/"):
            return self.text(digest(self.path[len("/sha256"):]))
        if not self.path.startswith("/size/") and self.path not in SITE:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        tag = '"' + hashlib.sha256(self.path.encode()).hexdigest()[:16] + '"'
        if self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            self.send_header("ETag", tag)
            self.send_header("Cache-Control", "max-age=3600")
            self.end_headers()
            return
        with lock:
            count += 1
        self.send_response(200)
        kind, fixed = SITE.get(self.path, ("application/octet-stream", None))
        self.send_header("Content-Length", self.path.split("/")[2] if fixed is None else str(len(fixed)))
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("ETag", tag)
        self.end_headers()
        if self.command == "GET":
            try:
                for p in ([fixed] if fixed is not None else pieces(self.path)):
                    self.wfile.write(p)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    do_HEAD = do_GET


if __name__ == "__main__":
    server = servers.Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
