#!/usr/bin/env python3
"""Instructions and allocations of `httpcache serve` per request: bench-serve-counts.py HTTPCACHE

Prints name|instructions|allocations for each row. Each figure is the difference of two fresh servers that get different
numbers of requests after the same warm-up, divided by the difference of these numbers. Needs valgrind, h2load, and
nginx for the origin.
"""
import http.client
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Trials"))
import nginx
import servers
import valgrind

CONNECTIONS = 4
OPTIONS = ["--event-loops", "1", "--h2c"]
# Name, path, what is different in each request, the protocol of h2load, and the numbers of requests of both servers.
ROWS = [
    ("serve: hit, 1 KiB", "1k", None, "http/1.1", (2_000, 22_000)),
    # One answer is prepared for all requests of a second that have equal fields: a new field counts as a new second.
    ("serve: hit, first of its second", "1k", "field", None, (500, 2_500)),
    ("serve: hit, 1 KiB, HTTP/2", "1k", None, "h2c", (500, 3_500)),
    ("serve: passed on, no-store, 1 KiB", "no/1k", None, "http/1.1", (500, 1_500)),
    ("serve: miss stored on disk, 1 KiB", "1k", "URL", "http/1.1", (500, 1_500)),
]


def get_by_h2load(port, protocol, paths):
    """Gets each path once, over several connections."""
    with tempfile.TemporaryDirectory() as folder:
        clients = []
        for number in range(min(CONNECTIONS, len(paths))):
            # One h2load would get every path over each of its connections.
            own, urls = paths[number::CONNECTIONS], Path(folder) / f"urls{number}"
            urls.write_text("".join(f"http://127.0.0.1:{port}/{path}\n" for path in own))
            command = ["h2load", f"--no-tls-proto={protocol}", "-c1", f"-n{len(own)}", "-i", str(urls)]
            clients.append((len(own), subprocess.Popen(command, stdout=subprocess.PIPE, text=True)))
        for count, client in clients:
            out = client.communicate()[0]
            if f" {count} 2xx" not in out:
                raise RuntimeError(out)


def get_with_new_fields(port, path, count):
    """Gets a path several times over one connection, each time with another field."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(count):
        connection.request("GET", f"/{path}", headers={"Number": str(number)})
        response = connection.getresponse()
        if response.status != 200 or len(response.read()) != 1024:
            raise RuntimeError(f"{path}: {response.status}")


def load(row, count):
    """A function that sends so many requests of a row to a port."""
    _, path, different, protocol, _ = row

    def send(port):
        get_by_h2load(port, "http/1.1", [path])
        # In the second after a miss, no answer is prepared.
        time.sleep(2)
        if different == "field":
            get_with_new_fields(port, path, count)
        else:
            get_by_h2load(port, protocol, [f"{path}?{n}" if different == "URL" else path for n in range(count)])
    return send


def per_request(what, program, upstream, row):
    few, many = row[-1]
    counts = [valgrind.counted(what, program, upstream, OPTIONS, load(row, count)) for count in (few, many)]
    return (counts[1] - counts[0]) / (many - few)


def main():
    with tempfile.TemporaryDirectory() as folder:
        program, port = valgrind.stripped(sys.argv[1], folder), servers.free_port()
        upstream = f"http://127.0.0.1:{port}"
        origin = subprocess.Popen(nginx.origin(Path(folder), port, {"1k": 1024}), stderr=subprocess.DEVNULL)
        try:
            for row in ROWS:
                instructions = per_request(valgrind.INSTRUCTIONS, program, upstream, row)
                allocations = per_request(valgrind.ALLOCATIONS, program, upstream, row)
                print(f"{row[0]}|{instructions:.0f}|{allocations:.2f}", flush=True)
        finally:
            origin.terminate()
            origin.wait()


main()
