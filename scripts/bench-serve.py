#!/usr/bin/env python3
"""Measures `httpcache serve` beside nginx and Varnish: bench-serve.py HTTPCACHE [ROUNDS [SECONDS]]

Each server runs on core 0, the client on core 1. The servers take turns: each round measures all of them. Prints a
table of hits with the median over the rounds (requests per second, processor time of the server per request, the time
within which 99 of 100 requests were answered), and one of large bodies and of idle connections. Compare rows of one run
only. Needs nginx, wrk, h2load (nghttp2-client) and openssl; Varnish is left out where it is not installed.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NGINX = """daemon off; worker_processes 1; pid nginx.pid; error_log nginx.err warn;
events {{ worker_connections 4096; }}
http {{ access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000000;
 client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
 proxy_cache_path cache levels=1:2 keys_zone=z:10m max_size=1g inactive=1h use_temp_path=off;
 server {{ listen 127.0.0.1:{origin}; location / {{ root www; add_header Cache-Control "max-age=3600"; }} }}
 server {{ listen 127.0.0.1:{port}; listen 127.0.0.1:{secure} ssl http2;
  ssl_certificate certificate.pem; ssl_certificate_key key.pem;
  location / {{ proxy_pass http://127.0.0.1:{origin}; proxy_cache z;
  proxy_cache_valid 200 1h; open_file_cache max=1000; }} }} }}
"""
VARNISH = 'vcl 4.1; backend default {{ .host = "127.0.0.1"; .port = "{origin}"; }}\n'
TICKS = os.sysconf("SC_CLK_TCK")
ORIGIN, VARNISH_PORT = 19001, 19006
# The ports of each server: in the clear and over TLS.
PORTS = {"nginx": (19002, 19003), "serve": (19004, 19005), "Varnish": (VARNISH_PORT, None)}
if not shutil.which("varnishd"):
    del PORTS["Varnish"]
WRK = ["wrk", "-t1", "--latency"]
# Title, path, whether over TLS, and the client's command.
ROWS = [
    ("1 KiB", "1k", False, WRK + ["-c64"]),
    ("16 KiB", "16k", False, WRK + ["-c64"]),
    ("1 KiB, 512 connections", "1k", False, WRK + ["-c512"]),
    ("1 KiB, TLS", "1k", True, WRK + ["-c64"]),
    ("1 KiB, TLS, HTTP/2", "1k", True, ["h2load", "-t1", "-c16", "-m16"]),
    ("16 KiB, TLS, HTTP/2", "16k", True, ["h2load", "-t1", "-c16", "-m16"]),
    ("1 KiB, not modified", "1k", False, WRK + ["-c64", "-H", "If-None-Match: *"]),
    # This field takes the slow path of serve; nginx and Varnish do not read it.
    ("1 KiB, the slow path", "1k", False, WRK + ["-c64", "-H", "Keep-Alive: 600"]),
]
IDLE = 1000


def descendants(pid):
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    return [pid] + [p for child in children for p in descendants(int(child))]


def processor_time(pid):
    total = 0
    for process in descendants(pid):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        except FileNotFoundError:
            pass
    return total / TICKS


def memory(pid):
    """KiB of memory that the processes of a server have for themselves."""
    total = 0
    for process in descendants(pid):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Private_"):
                total += int(line.split()[1])
    return total


def measured(pid, url, command, seconds):
    """Requests per second, microseconds of the server per request, and the 99th percentile in milliseconds; None if
    the server left a request unanswered."""
    is_wrk = command[0] == "wrk"
    time_option = [f"-d{seconds}s"] if is_wrk else [f"-D{seconds}", "--warm-up-time=1"]
    before = processor_time(pid)
    out = subprocess.run(["taskset", "-c", "1"] + command + time_option + [url], capture_output=True, text=True).stdout
    used = processor_time(pid) - before
    if is_wrk:
        if "Non-2xx" in out or "Socket errors" in out:
            print(f"{url}: {out}", file=sys.stderr)
            return None
        count = int(re.search(r"(\d+) requests in", out)[1])
        late, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", out).groups()
        percentile = float(late) * {"us": 0.001, "ms": 1, "s": 1000}[unit]
        return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), used * 1e6 / max(count, 1), percentile
    if "0 failed, 0 errored" not in out:
        sys.exit(f"{url}: {out}")
    rate = float(re.search(r"([\d.]+) req/s", out)[1])
    # The warm-up of a second is not in the count.
    return rate, used * 1e6 / (rate * (seconds + 1)), None


def median(values):
    return sorted(values)[len(values) // 2]


def url(name, path, is_secure=False):
    port = PORTS[name][is_secure]
    return f"http{'s' if is_secure else ''}://127.0.0.1:{port}/{path}" if port else None


def hits(pids, rounds, seconds):
    figures = {}
    for _ in range(rounds):
        for title, path, is_secure, command in ROWS:
            for name in PORTS:
                target = url(name, path, is_secure)
                if target is None:
                    continue
                subprocess.run(["curl", "-sk", "-o", "/dev/null", target], check=True)
                pid = pids["serve with TLS"] if is_secure and name == "serve" else pids[name]
                figure = measured(pid, target, command, seconds)
                if figure:
                    figures.setdefault((title, name), []).append(figure)
                elif name != "Varnish":
                    sys.exit(f"{name} failed: {title}")
    print("| hits | server | requests/s | × nginx | µs of processor time | nginx / it | 99 % within ms |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for title, _, _, _ in ROWS:
        rate, cost = (median([f[i] for f in figures[(title, "nginx")]]) for i in (0, 1))
        for name in PORTS:
            if (title, name) in figures:
                own = figures[(title, name)]
                r, c = (median([f[i] for f in own]) for i in (0, 1))
                late = "–" if own[0][2] is None else f"{median([f[2] for f in own]):.1f}"
                print(f"| {title} | {name} | {r:,.0f} | {r / rate:.2f} | {c:.1f} | {cost / c:.2f} | {late} |")


def large(pid, name, rounds):
    """Milliseconds of processor time for each GB of a body of 100 MB."""
    target = url(name, "100m")
    costs = []
    for _ in range(rounds):
        subprocess.run(["curl", "-s", "-o", "/dev/null", target], check=True)
        before = processor_time(pid)
        for _ in range(10):
            subprocess.run(["taskset", "-c", "1", "curl", "-s", "-o", "/dev/null", target], check=True)
        costs.append((processor_time(pid) - before) * 1000)
    return median(costs)


def idle(pid, name):
    """KiB of memory for each connection that waits after two hits, the second of them one for which `serve` starts a
    task (HEAD). Only the second half of the connections counts: the first ones make the system read code of the server
    from its file."""
    connections, before = [], 0
    for number in range(2 * IDLE):
        if number == IDLE:
            before = memory(pid)
        connection = socket.create_connection(("127.0.0.1", PORTS[name][0]))
        connection.sendall(b"GET /1k HTTP/1.1\r\nHost: h\r\n\r\n")
        received = b""
        while not received.endswith(b"a" * 1024):
            received += connection.recv(65536)
        connection.sendall(b"HEAD /1k HTTP/1.1\r\nHost: h\r\n\r\n")
        received = b""
        while not received.endswith(b"\r\n\r\n"):
            received += connection.recv(65536)
        connections.append(connection)
    after = memory(pid)
    for connection in connections:
        connection.close()
    return (after - before) / IDLE


def servers(command, folder):
    serve = [command, "serve", "--upstream", f"http://127.0.0.1:{ORIGIN}", "--access-log", "none",
             "--connections-per-client", "4096"]
    clear, secure = PORTS["serve"]
    return {
        "nginx": ["nginx", "-c", f"{folder}/nginx.conf", "-p", f"{folder}"],
        "Varnish": [
            "varnishd", "-F", "-j", "none", "-n", f"{folder}/varnish", "-a", f"127.0.0.1:{VARNISH_PORT}", "-f",
            f"{folder}/v.vcl", "-s", "malloc,1g", "-p", "default_ttl=3600", "-p", "thread_pools=1"],
        "serve": serve + ["--listen", f"127.0.0.1:{clear}", "--dir", f"{folder}/cache1"],
        "serve with TLS": serve + [
            "--listen", f"127.0.0.1:{secure}", "--dir", f"{folder}/cache2",
            "--tls-certificate", "certificate.pem", "--tls-key", "key.pem"],
    }


def prepare(folder):
    folder.chmod(0o755)
    (folder / "www").mkdir()
    for name, size in (("1k", 1 << 10), ("16k", 16 << 10), ("100m", 100_000_000)):
        (folder / "www" / name).write_bytes(b"a" * size)
    (folder / "nginx.conf").write_text(NGINX.format(origin=ORIGIN, port=PORTS["nginx"][0], secure=PORTS["nginx"][1]))
    (folder / "v.vcl").write_text(VARNISH.format(origin=ORIGIN))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", "key.pem", "-out", "certificate.pem"], cwd=folder, check=True, capture_output=True)


def main():
    command = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        prepare(folder)
        processes = {}
        try:
            for name, arguments in servers(command, folder).items():
                if name == "Varnish" and name not in PORTS:
                    continue
                processes[name] = subprocess.Popen(
                    ["taskset", "-c", "0"] + arguments, cwd=folder, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)
                time.sleep(4 if name == "Varnish" else 1)
            pids = {name: process.pid for name, process in processes.items()}
            waiting = {name: idle(pids[name], name) for name in PORTS}
            hits(pids, rounds, seconds)
            print("\n| server | ms of processor time for 1 GB in bodies of 100 MB | KiB for an idle connection |")
            print("|---|---:|---:|")
            for name in PORTS:
                print(f"| {name} | {large(pids[name], name, rounds):,.0f} | {waiting[name]:.1f} |")
        finally:
            for process in processes.values():
                process.terminate()
            for process in processes.values():
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


main()
