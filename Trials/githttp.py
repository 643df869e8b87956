#!/usr/bin/env python3
"""`git http-backend` over HTTP, on loopback: githttp.py DIRECTORY. Prints its port."""
import gzip, os, subprocess, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def content(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content = b""
        while size := int(self.rfile.readline(), 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def answer(self):
        path, _, query = self.path.partition("?")
        content = self.content()
        if self.headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        environment = dict(
            os.environ, GIT_PROJECT_ROOT=os.path.abspath(sys.argv[1]), GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path,
            QUERY_STRING=query, REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get("Content-Type", ""),
            CONTENT_LENGTH=str(len(content)), GIT_PROTOCOL=self.headers.get("Git-Protocol", ""), REMOTE_USER="anyone")
        output = subprocess.run(["git", "http-backend"], input=content, env=environment, stdout=subprocess.PIPE).stdout
        head, _, body = output.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = [value for name, value in fields if name == "Status"]
        self.send_response(int(status[0].split()[0]) if status else 200)
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
