#!/usr/bin/env python3
"""Mixed load on `httpcache serve`: mixed.py HTTPCACHE [MINUTES]

Clients ask for 300 URLs of two origins behind one group while, by turns, the configuration is read again (SIGHUP),
responses are purged, slow clients hold large bodies, and one origin refuses connections, answers 500, breaks bodies
off, or stalls. Compares every body. Prints the requests that failed although no origin was at fault, and resident
memory by minute. Fails if a body was wrong, if a request failed without a fault of an origin, or if resident memory
of the last three minutes is more than 5 % above that of the third to fifth minute (of 8 minutes or more).
"""
import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ORIGINS, PROXY, TOKEN = (19101, 19102), 19103, "a-token-for-mixed-load"
FAULTS = ["refuse", "500", "cut", "stall"]
fault, fault_ended = None, 0.0
done = threading.Event()
counts, failures, memory = Counter(), [], []
lock = threading.Lock()


def body(path):
    size = 5_000_000 if path.startswith("/large") else 200 + hash_of(path) % 30_000
    return (path.encode() + b"\n") * (size // (len(path) + 1) + 1)


def hash_of(path):
    return sum(ord(c) * (i + 1) * 7919 for i, c in enumerate(path))


class Origin(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        kind = fault if self.server.server_port == ORIGINS[0] else None
        if kind == "stall":
            time.sleep(1)
        content = body(self.path)
        tag = f'"{hash_of(self.path)}"'
        is_valid = kind != "500" and self.headers.get("If-None-Match") == tag
        self.send_response(500 if kind == "500" else 304 if is_valid else 200)
        if kind != "500":
            self.send_header("Cache-Control", f"max-age={1 + hash_of(self.path) % 5}")
            self.send_header("ETag", tag)
            self.send_header("Surrogate-Key", f"all g{hash_of(self.path) % 10}")
        if kind == "500" or is_valid:
            content = b""
        if not is_valid:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if kind == "cut":
            content = content[: len(content) // 2]
            self.close_connection = True
        try:
            self.wfile.write(content)
        except OSError:
            pass


def serve_origin(port):
    server = ThreadingHTTPServer(("127.0.0.1", port), Origin)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def is_excused(began):
    return fault in ("500", "cut") or fault_ended > began - 1


def client(number):
    choose = random.Random(number)
    connection = None
    while not done.is_set():
        path = f"/p/{int(choose.paretovariate(0.7)) % 300}"
        began = time.time()
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", PROXY, timeout=30)
            connection.request("GET", path)
            response = connection.getresponse()
            content = response.read()
            outcome = "right" if response.status == 200 and content == body(path) else f"status {response.status}"
            if response.status == 200 and content != body(path):
                outcome = "WRONG BODY"
        except (OSError, http.client.HTTPException) as error:
            outcome, connection = f"{type(error).__name__}", None
        with lock:
            counts[outcome] += 1
            if outcome == "WRONG BODY" or outcome != "right" and not is_excused(began):
                failures.append((round(time.time() - start), path, outcome, fault))


def slow_client():
    while not done.is_set():
        try:
            connection = socket.create_connection(("127.0.0.1", PROXY), timeout=30)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(f"GET /large/{random.randrange(3)} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            for _ in range(60):
                if done.is_set() or not connection.recv(4096):
                    break
                time.sleep(0.2)
            connection.close()
        except OSError:
            time.sleep(0.1)


def purge(method, path, fields):
    connection = http.client.HTTPConnection("127.0.0.1", PROXY, timeout=30)
    connection.request(method, path, headers={"Authorization": f"Bearer {TOKEN}", **fields})
    response = connection.getresponse()
    counts[f"{method} {response.status}"] += 1
    response.read()


def write_config(folder, number):
    (folder / "serve.yaml").write_text(
        f"""listen: 127.0.0.1:{PROXY}
dir: {folder}/cache
capacity: 50M
memory: 8M
access-log: none
purge-token-file: {folder}/token
tags-as-groups: true
upstreams:
  both: {{addresses: [{", ".join(f"http://127.0.0.1:{port}" for port in ORIGINS)}], pause: 2}}
routes: [{{upstream: both}}]
response-fields: {{set: {{X-Reload: "{number}"}}}}
""")


def resident(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def disturb(process, folder, servers, end):
    global fault, fault_ended
    number = 0
    while time.time() < end:
        number += 1
        time.sleep(1)
        memory.append(resident(process.pid))
        if number % 7 == 0:
            write_config(folder, number)
            process.send_signal(signal.SIGHUP)
        if number % 3 == 0:
            fields = [{}, {"Soft-Purge": "1"}, {"Surrogate-Key": f"g{number % 10}"}][number // 3 % 3]
            purge("BAN" if number % 2 else "PURGE", f"/p/{number % 10}", fields)
        if number % 20 == 10:
            fault = FAULTS[number // 20 % len(FAULTS)]
            if fault == "refuse":
                servers[0].shutdown()
                servers[0].server_close()
        if number % 20 == 15:
            if fault == "refuse":
                servers[0] = serve_origin(ORIGINS[0])
            fault, fault_ended = None, time.time()


def main():
    global start
    command, minutes = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 15
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "token").write_text(TOKEN)
        (folder / "token").chmod(0o600)
        write_config(folder, 0)
        servers = [serve_origin(port) for port in ORIGINS]
        process = subprocess.Popen([command, "serve", "--config", f"{folder}/serve.yaml"], stderr=subprocess.PIPE)
        messages = []
        threading.Thread(target=lambda: messages.extend(process.stderr), daemon=True).start()
        time.sleep(2)
        start = time.time()
        threads = [threading.Thread(target=client, args=(i,)) for i in range(8)]
        threads += [threading.Thread(target=slow_client) for _ in range(20)]
        for thread in threads:
            thread.start()
        disturb(process, folder, servers, start + minutes * 60)
        done.set()
        for thread in threads:
            thread.join()
        process.terminate()
        process.wait(30)
    print(dict(counts))
    print(f"{len(failures)} failed requests without a fault of an origin", failures[:10])
    minutes = [sum(memory[i:i + 60]) / len(memory[i:i + 60]) for i in range(0, len(memory), 60)]
    print("resident memory by minute in KiB:", *(f"{value:,.0f}" for value in minutes))
    growth = 1.0
    if len(memory) >= 480:
        growth = sum(memory[-180:]) / sum(memory[120:300])
        print(f"resident memory: the last three minutes are {growth:.3f} of the third to fifth (at most 1.05)")
    print(f"exit status {process.returncode}; messages other than of reloads:")
    for line, count in Counter(m.decode().strip()[:120] for m in messages if b"read again" not in m).most_common(8):
        print(f"  {count} × {line}")
    return 1 if failures or growth > 1.05 or process.returncode else 0


sys.exit(main())
