#!/usr/bin/env python3
"""A client for the public HTTP cache tests that asks a proxy over TLS: conformance-curl.py PORT 1.1|2

Reads one request per line of JSON and writes one response per line, as `run.py --client-cmd` expects. Each request is a
run of curl, which must speak the version that is asked for.
"""
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

PORT, VERSION = sys.argv[1:]
# As the client of run.py translates the cache modes of Fetch, and what it sends unless a test says otherwise.
MODES = {"no-cache": "max-age=0", "no-store": "no-store", "reload": "no-cache", "force-cache": "max-stale",
         "only-if-cached": "max-stale, only-if-cached"}
DEFAULTS = [("Accept", "*/*"), ("Accept-Language", "*"), ("User-Agent", "cache-conformance"),
            ("Accept-Encoding", "identity")]
lock = threading.Lock()


def fields(request):
    lines = [tuple(line) for line in request["headers"]]
    names = {name.lower() for name, _ in lines}
    defaults = list(DEFAULTS)
    if mode := MODES.get(request.get("cache_mode")):
        defaults.append(("Cache-Control", mode))
    if request["body"] is not None:
        defaults.append(("Content-Type", "text/plain;charset=UTF-8"))
    return lines + [line for line in defaults if line[0].lower() not in names]


def command(request):
    parts = urlsplit(request["url"])
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    version = "--http2" if VERSION == "2" else "--http1.1"
    words = ["curl", "-sS", "-k", "-i", "--path-as-is", version, "--max-time", "20"]
    words += ["-I"] if request["method"] == "HEAD" else ["-X", request["method"]]
    for name, value in fields(request):
        words += ["-H", f"{name}: {value}" if value else f"{name};"]
    if request["body"] is not None:
        words += ["--data-binary", "@-"]
    return [word.encode("latin-1") for word in words + [f"https://127.0.0.1:{PORT}{target}"]]


def parsed(output):
    """Interim responses, and the status, fields and body of the final one."""
    interim = []
    while True:
        head, _, output = output.partition(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")
        version, status = start.split(" ")[:2]
        assert version == f"HTTP/{VERSION}", start
        pairs = [[name, value.strip()] for name, _, value in (line.partition(":") for line in lines)]
        if status.startswith("1"):
            interim.append([int(status), pairs])
        else:
            return interim, int(status), pairs, output


def answer(request):
    reply = {"id": request["id"]}
    run = subprocess.run(command(request), input=(request["body"] or "").encode(), capture_output=True)
    if run.returncode:
        reply["error"] = run.stderr.decode("latin-1").strip()
    else:
        interim, status, pairs, rest = parsed(run.stdout)
        reply |= {"status": status, "headers": pairs, "interim": interim, "body": rest.decode()}
    with lock:
        print(json.dumps(reply), flush=True)


with ThreadPoolExecutor(25) as pool:
    for line in sys.stdin:
        pool.submit(answer, json.loads(line))
