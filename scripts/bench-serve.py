#!/usr/bin/env python3
"""Measures `httpcache serve` beside nginx and Varnish: bench-serve.py HTTPCACHE [ROUNDS [SECONDS]]

Each server runs on core 0, the client and the origin (nginx) on core 1. The servers take turns: each round measures all
of them. Prints a table of requests with the median over the rounds (requests per second, processor time of the server
per request, the time within which 99 of 100 requests were answered; also as ratios to nginx), one of misses beside
passed requests of the same server, and one of large bodies and of idle connections.
Compare rows of one run only; where requests reach the origin, it shares the client's core, and only the processor time
counts. Needs wrk, h2load (nghttp2-client) and openssl, and nginx for the origin; skipped without nginx. Varnish is left
out where it is not installed, and `nio-proxy` of Benchmarks, the floor of SwiftNIO, where it is not built.
"""
import os
import re
import resource
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Trials"))
import nginx

SIZES = {"1k": 1 << 10, "4k": 4 << 10, "16k": 16 << 10, "100k": 100 << 10, "100m": 100_000_000}
CACHE_SERVERS = """proxy_cache_path cache levels=1:2 keys_zone=z:100m max_size=1g inactive=1h use_temp_path=off;
 upstream origin {{ server 127.0.0.1:{origin}; keepalive 256; keepalive_requests 100000000; }}
 proxy_http_version 1.1; proxy_set_header Connection ""; proxy_cache z; proxy_cache_valid 200 1h;
 open_file_cache max=1000;
 server {{ listen 127.0.0.1:{port}; listen 127.0.0.1:{secure} ssl http2;
  ssl_certificate certificate.pem; ssl_certificate_key key.pem; location / {{ proxy_pass http://origin; }} }}
 server {{ listen 127.0.0.1:{logged}; access_log nginx.log; location / {{ proxy_pass http://origin; }} }}"""
# Requests for URLs that were never asked for before (`first` differs from run to run), for a share of the requests. The
# others are for 1,000 URLs, which are asked for by Zipf's law.
SCRIPT = """local first, share, n, sums = '%s', %s, 0, {}
math.randomseed(os.time())
local total = 0
for i = 1, 1000 do total = total + 1 / i; sums[i] = total end
function request()
  n = n + 1
  if math.random() < share then return wrk.format('GET', wrk.path .. '?' .. first .. n) end
  local place, low, high = math.random() * total, 1, 1000
  while low < high do
    local middle = math.floor((low + high) / 2)
    if sums[middle] < place then low = middle + 1 else high = middle end
  end
  return wrk.format('GET', wrk.path .. '?popular' .. low)
end
"""
VARNISH = 'vcl 4.1; backend default {{ .host = "127.0.0.1"; .port = "{origin}"; }}\n'
TICKS = os.sysconf("SC_CLK_TCK")
ORIGIN, VARNISH_PORT = 19001, 19006
# The ways to a server, and the port of each: in the clear, over TLS, and with a log of requests.
CLEAR, TLS, LOGGED = 0, 1, 2
PORTS = {"nginx": (19002, 19003, 19007), "serve": (19004, 19005, 19008), "Varnish": (VARNISH_PORT, None, None)}
SERVES = ["serve", "serve with TLS", "serve with a log"]
# The least that proxies on SwiftNIO do for a request that is passed on, as its bytes or by its codec.
FLOOR = Path(__file__).parent.parent / "Benchmarks/.build/release/nio-proxy"
FLOORS = {"SwiftNIO, bytes": 19009, "SwiftNIO, codec": 19010} if FLOOR.exists() else {}
PORTS |= {name: (port, None, None) for name, port in FLOORS.items()}
if not shutil.which("varnishd"):
    del PORTS["Varnish"]
WRK = ["wrk", "-t1", "--latency"]
MISS, PASS = "1 KiB, miss that is stored", "1 KiB, no-store"
# Title, path, the way, the client's command, and the share of requests for new URLs where some are.
ROWS = [
    ("1 KiB", "1k", CLEAR, WRK + ["-c64"], None),
    ("16 KiB", "16k", CLEAR, WRK + ["-c64"], None),
    ("1 KiB, 512 connections", "1k", CLEAR, WRK + ["-c512"], None),
    ("1 KiB, TLS", "1k", TLS, WRK + ["-c64"], None),
    ("1 KiB, TLS, HTTP/2", "1k", TLS, ["h2load", "-t1", "-c16", "-m16"], None),
    ("16 KiB, TLS, HTTP/2", "16k", TLS, ["h2load", "-t1", "-c16", "-m16"], None),
    ("1 KiB, not modified", "1k", CLEAR, WRK + ["-c64", "-H", "If-None-Match: *"], None),
    ("1 KiB, a field of the connection", "1k", CLEAR, WRK + ["-c64", "-H", "Connection: x"], None),
    ("two ranges of 1 KiB", "1k", CLEAR, WRK + ["-c64", "-H", "Range: bytes=0-99,200-299"], None),
    # The slow path of serve: a longer body than it prepares.
    ("100 KiB", "100k", CLEAR, WRK + ["-c64"], None),
    (MISS, "1k", CLEAR, WRK + ["-c64"], 1),
    (PASS, "no/1k", CLEAR, WRK + ["-c64"], None),
    ("1 KiB, with a log", "1k", LOGGED, WRK + ["-c64"], None),
    ("1 KiB, no-store, with a log", "no/1k", LOGGED, WRK + ["-c64"], None),
    ("4 KiB, half of them misses", "4k", CLEAR, WRK + ["-c64"], 0.5),
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
    """The median; None where there are no values, as for the percentile of h2load."""
    return None if None in values else sorted(values)[len(values) // 2]


def url(name, path, way=CLEAR):
    port = PORTS[name][way]
    return f"http{'s' if way == TLS else ''}://127.0.0.1:{port}/{path}" if port else None


def requests(pids, folder, rounds, seconds):
    figures = {}
    for number in range(rounds):
        for title, path, way, command, share in ROWS:
            for name in PORTS:
                target = url(name, path, way)
                if target is None or name in FLOORS and title != PASS:
                    continue
                script = []
                if share is not None:
                    (folder / "script.lua").write_text(SCRIPT % (f"{title[0]}r{number}n", share))
                    script = ["-s", str(folder / "script.lua")]
                subprocess.run(["curl", "-sfk", "-o", "/dev/null", target], check=True)
                pid = pids[SERVES[way] if name == "serve" else name]
                figure = measured(pid, target, command + script, seconds)
                if figure:
                    figures.setdefault((title, name), []).append(figure)
                elif name != "Varnish":
                    sys.exit(f"{name} failed: {title}")
    show({key: [median(values) for values in zip(*own)] for key, own in figures.items()})


def show(figures):
    """Prints the figures of `measured` by title and server."""
    print("| requests | server | requests/s | × nginx | µs of processor time | nginx / it | 99 % within ms | × nginx |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for title, _, _, _, _ in ROWS:
        rate, cost, percentile = figures[(title, "nginx")]
        for name in PORTS:
            if (title, name) in figures:
                r, c, late = figures[(title, name)]
                late = "– | –" if late is None else f"{late:.1f} | {late / percentile:.1f}"
                print(f"| {title} | {name} | {r:,.0f} | {r / rate:.2f} | {c:.1f} | {cost / c:.2f} | {late} |")
    print("\n| server | processor time of a miss that is stored, as a multiple of its own no-store |")
    print("|---|---:|")
    for name in PORTS:
        miss, passed = figures.get((MISS, name)), figures.get((PASS, name))
        if miss and passed:
            print(f"| {name} | {miss[1] / passed[1]:.2f} |")


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


def connected(port, protocol):
    """A connection over HTTP/1.1 or, with TLS, over the protocol that is chosen by ALPN."""
    connection = socket.create_connection(("127.0.0.1", port))
    if protocol is None:
        return connection
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(connection)


def received(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            sys.exit("a connection ended")
        data += part
    return data


def get(connection, path):
    """Gets a body of 1 KiB over HTTP/1.1."""
    connection.sendall(f"GET /{path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    data = b""
    while not data.endswith(b"a" * 1024):
        part = connection.recv(65536)
        if not part:
            sys.exit("a connection ended")
        data += part


def get_http2(connection, stream, path):
    """Gets a body over HTTP/2: fields without compression, no check of what comes."""
    path = b"/" + path.encode()
    block = b"\x82\x87\x01\x01h\x04" + bytes([len(path)]) + path
    begin = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]) if stream == 1 else b""
    connection.sendall(begin + bytes([0, 0, len(block), 1, 5, 0, 0, 0, stream]) + block)
    while True:
        head = received(connection, 9)
        received(connection, int.from_bytes(head[:3], "big"))
        if head[3] == 4 and not head[4] & 1:
            connection.sendall(bytes([0, 0, 0, 4, 1, 0, 0, 0, 0]))
        if head[3] in (0, 1) and head[8] == stream and head[4] & 1:
            return


def idle(pid, port, protocol, paths):
    """KiB of memory for each connection that waits after it got some paths. Only the second half of the connections
    counts: the first ones make the system read code of the server from its file."""
    connections, before = [], 0
    for number in range(2 * IDLE):
        if number == IDLE:
            before = memory(pid)
        connection = connected(port, protocol)
        for count, path in enumerate(paths):
            if protocol == "h2":
                get_http2(connection, 2 * count + 1, path)
            else:
                get(connection, path)
        connections.append(connection)
    after = memory(pid)
    for connection in connections:
        connection.close()
    return (after - before) / IDLE


def idle_figures(name, commands, folder):
    """The memory of connections without TLS, with TLS, and over HTTP/2 with TLS, each after a hit and after a request that
    was passed on: the latter takes a task of `serve`. Each in a process of its own, which has no memory to use again."""
    clear, secure, _ = PORTS[name]
    figures = []
    for port, protocol in ((clear, None), (secure, "http/1.1"), (secure, "h2")):
        for paths in (["1k"], ["1k", "no/1k"]):
            if port is None:
                figures.append("–")
                continue
            process = started(commands["serve with TLS" if protocol and name == "serve" else name], folder)
            try:
                figures.append(f"{idle(process.pid, port, protocol, paths):.1f}")
            finally:
                ended([process])
    return figures


def started(arguments, folder, core=0):
    process = subprocess.Popen(
        ["taskset", "-c", str(core)] + arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(4 if arguments[0] == "varnishd" else 1)
    if process.poll() is not None:
        sys.exit(f"{arguments[0]} ended at once: another program may have its port")
    return process


def ended(processes):
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def servers(command, folder):
    serve = [command, "serve", "--upstream", f"http://127.0.0.1:{ORIGIN}", "--connections-per-client", "4096"]
    clear, secure, logged = PORTS["serve"]
    port, secure_port, logged_port = PORTS["nginx"]
    cache_servers = CACHE_SERVERS.format(origin=ORIGIN, port=port, secure=secure_port, logged=logged_port)
    floors = {name: [str(FLOOR), str(port), str(ORIGIN), name.split()[1]] for name, port in FLOORS.items()}
    return floors | {
        "origin": nginx.origin(folder, ORIGIN, SIZES),
        "nginx": nginx.command(folder, "nginx", cache_servers),
        "Varnish": [
            "varnishd", "-F", "-j", "none", "-n", f"{folder}/varnish", "-a", f"127.0.0.1:{VARNISH_PORT}", "-f",
            f"{folder}/v.vcl", "-s", "malloc,1g", "-p", "default_ttl=3600", "-p", "thread_pools=1"],
        "serve": serve + [
            "--listen", f"127.0.0.1:{clear}", "--dir", f"{folder}/cache1", "--access-log", "none"],
        "serve with TLS": serve + [
            "--listen", f"127.0.0.1:{secure}", "--dir", f"{folder}/cache2", "--access-log", "none",
            "--tls-certificate", "certificate.pem", "--tls-key", "key.pem"],
        "serve with a log": serve + [
            "--listen", f"127.0.0.1:{logged}", "--dir", f"{folder}/cache3", "--access-log-file", "serve.log"],
    }


def prepare(folder):
    (folder / "v.vcl").write_text(VARNISH.format(origin=ORIGIN))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", "key.pem", "-out", "certificate.pem"], cwd=folder, check=True, capture_output=True)


def main():
    command = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    if not shutil.which("nginx"):
        return print("skipped: nginx is not there")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        prepare(folder)
        commands = servers(command, folder)
        processes = {"origin": started(commands.pop("origin"), folder, core=1)}
        try:
            waiting = {name: idle_figures(name, commands, folder) for name in PORTS}
            for name, arguments in commands.items():
                if name != "Varnish" or name in PORTS:
                    processes[name] = started(arguments, folder)
            pids = {name: process.pid for name, process in processes.items()}
            requests(pids, folder, rounds, seconds)
            print("\n| server | ms of processor time for 1 GB in bodies of 100 MB |")
            print("|---|---:|")
            for name in [name for name in PORTS if name not in FLOORS]:
                print(f"| {name} | {large(pids[name], name, rounds):,.0f} |")
            print("\n| KiB for an idle connection | HTTP/1.1, after a hit | after a pass | TLS | TLS, after a pass "
                  "| HTTP/2 with TLS | HTTP/2, after a pass |")
            print("|---|---:|---:|---:|---:|---:|---:|")
            for name in PORTS:
                print(f"| {name} | " + " | ".join(waiting[name]) + " |")
        finally:
            ended(processes.values())


main()
