#!/usr/bin/env python3
"""Measures hits of `httpcache serve` beside nginx and Varnish: bench-serve.py HTTPCACHE [ROUNDS [SECONDS]]

Each server runs on core 0, wrk with 64 connections on core 1. The servers take turns: each round measures all of
them, with bodies of 1 KiB, 16 KiB and (for the general way of serve) 1 KiB with a Cookie. Prints a table with the
median over the rounds: requests per second, processor time of the server per request, and both beside nginx. Compare
rows of one run only. Needs nginx, varnish and wrk.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NGINX = """daemon off; worker_processes 1; pid nginx.pid; error_log nginx.err warn;
events {{ worker_connections 1024; }}
http {{ access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000000;
 client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
 proxy_cache_path cache levels=1:2 keys_zone=z:10m max_size=1g inactive=1h use_temp_path=off;
 server {{ listen 127.0.0.1:{origin}; location / {{ root www; add_header Cache-Control "max-age=3600"; }} }}
 server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{origin}; proxy_cache z;
  proxy_cache_valid 200 1h; open_file_cache max=1000; }} }} }}
"""
VARNISH = 'vcl 4.1; backend default {{ .host = "127.0.0.1"; .port = "{origin}"; }}\n'
TICKS = os.sysconf("SC_CLK_TCK")
ORIGIN = 19001


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


def measured(process, url, fields, seconds):
    """Requests per second, and microseconds of the server per request."""
    command = ["taskset", "-c", "1", "wrk", "-t1", "-c64", f"-d{seconds}s"]
    before = processor_time(process.pid)
    out = subprocess.run(command + fields + [url], capture_output=True, text=True).stdout
    used = processor_time(process.pid) - before
    if "Non-2xx" in out or "Socket errors" in out:
        sys.exit(f"{url}: {out}")
    count = int(re.search(r"(\d+) requests in", out)[1])
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), used * 1e6 / max(count, 1)


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    command = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        folder.chmod(0o755)
        (folder / "www").mkdir()
        (folder / "www/1k").write_bytes(b"a" * 1024)
        (folder / "www/16k").write_bytes(b"a" * (16 << 10))
        (folder / "nginx.conf").write_text(NGINX.format(origin=ORIGIN, port=ORIGIN + 1))
        (folder / "v.vcl").write_text(VARNISH.format(origin=ORIGIN))
        servers = {
            "nginx proxy_cache": ["nginx", "-c", f"{folder}/nginx.conf", "-p", f"{folder}"],
            "Varnish": [
                "varnishd", "-F", "-j", "none", "-n", f"{folder}/varnish", "-a", f"127.0.0.1:{ORIGIN + 2}", "-f",
                f"{folder}/v.vcl", "-s", "malloc,256m", "-p", "default_ttl=3600", "-p", "thread_pools=1"],
            "serve": [
                command, "serve", "--listen", f"127.0.0.1:{ORIGIN + 3}", "--upstream", f"http://127.0.0.1:{ORIGIN}",
                "--dir", f"{folder}/cache", "--access-log", "none"],
        }
        processes = {}
        try:
            for name, arguments in servers.items():
                processes[name] = subprocess.Popen(
                    ["taskset", "-c", "0"] + arguments, cwd=folder, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)
                time.sleep(4 if name == "Varnish" else 1)
            table(processes, rounds, seconds)
        finally:
            for process in processes.values():
                process.terminate()
            for process in processes.values():
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def table(processes, rounds, seconds):
    rows = [("1 KiB", "1k", []), ("16 KiB", "16k", []), ("1 KiB, with a Cookie", "1k", ["-H", "Cookie: a=b"])]
    figures = {}
    for _ in range(rounds):
        for title, path, fields in rows:
            for index, (name, process) in enumerate(processes.items()):
                if fields and name == "Varnish":
                    # By default Varnish does not answer requests with cookies from its store.
                    continue
                url = f"http://127.0.0.1:{ORIGIN + 1 + index}/{path}"
                subprocess.run(["curl", "-s", "-o", "/dev/null", url], check=True)
                figures.setdefault((title, name), []).append(measured(process, url, fields, seconds))
    print("| body | server | requests/s | × nginx | µs of processor time | nginx / it |")
    print("|---|---|---:|---:|---:|---:|")
    for title, _, _ in rows:
        base = figures[(title, "nginx proxy_cache")]
        rate, cost = median([f[0] for f in base]), median([f[1] for f in base])
        for name in processes:
            if (title, name) in figures:
                own = figures[(title, name)]
                r, c = median([f[0] for f in own]), median([f[1] for f in own])
                print(f"| {title} | {name} | {r:,.0f} | {r / rate:.2f} | {c:.1f} | {cost / c:.2f} |")


main()
