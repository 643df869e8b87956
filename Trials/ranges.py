#!/usr/bin/env python3
"""An origin on loopback for urlsession-memory.sh. Prints its port on the first line.

/ranges/N      N bytes, max-age=3600, with ETag; answers Range and If-Range
/passing/N     the same, no-store
/plain/N       the same, no-store, without ETag, answers no range
/count         how many requests there were for bodies
PUT            reads the content and answers with its length
The byte at offset I is told by I modulo 65521.
"""
import os, re, sys, threading
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers

PERIOD = 65521
BLOCK = bytes((i ^ (i >> 8)) & 255 for i in range(PERIOD))
REPEATED = BLOCK * 18
count = 0
lock = threading.Lock()


class Handler(servers.Handler):
    def do_PUT(self):
        left = size = int(self.headers["Content-Length"])
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        self.text(str(size))

    def do_GET(self):
        global count
        if self.path == "/count":
            return self.text(str(count))
        kind, n = self.path.split("/")[1:3]
        size = int(n)
        with lock:
            count += 1
        start, end, status = 0, size, 200
        if kind != "plain":
            m = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if m and self.headers.get("If-Range", '"tag"') == '"tag"':
                start, status = int(m[1]), 206
                end = min(int(m[2]) + 1, size) if m[2] else size
        self.send_response(status)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Cache-Control", "max-age=3600" if kind == "ranges" else "no-store")
        if kind != "plain":
            self.send_header("ETag", '"tag"')
            self.send_header("Accept-Ranges", "bytes")
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.end_headers()
        at = start
        view = memoryview(REPEATED)
        try:
            while at < end:
                phase = at % PERIOD
                n = min(end - at, len(REPEATED) - phase)
                self.wfile.write(view[phase : phase + n])
                at += n
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


if __name__ == "__main__":
    server = servers.Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
