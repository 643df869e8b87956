#!/usr/bin/env python3
"""Another process writes into body files, in place, while `serve` answers from them: how many answers are wrong?

    written.py HTTPCACHE [SECONDS] [SEED]

Each answer is compared with the origin's bytes. An answer counts as cut if it ended before Content-Length, as wrong if
all bytes came and one of them differs. Wrong answers are told apart by when the write was: before the request began, or
while the answer was under way. Clients are quick, or slow (they read 64 KiB, wait 5 ms, and so on).
"""
import collections, hashlib, os, random, re, shutil, socket, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import origin as O
import servers

binary = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
server = servers.started(O.Handler)
upstream = f"http://127.0.0.1:{server.server_address[1]}"
work = tempfile.mkdtemp(prefix="written-")
cache = os.path.join(work, "cache")
SIZES = [100_000, 700_000, 3_000_000, 12_000_000]
paths = [f"/size/{size}/{n}" for size in SIZES for n in range(4)]
wanted = {path: O.digest(path) for path in paths}
serve = subprocess.Popen(
    [binary, "serve", "--listen", "127.0.0.1:0", "--shared", "--upstream", upstream, "--dir", cache, "--memory", "0",
     "--access-log", "none"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
port = None
while port is None:
    found = re.search(r"127\.0\.0\.1:(\d+)", serve.stderr.readline())
    port = found and int(found.group(1))
threading.Thread(target=lambda: [None for _ in serve.stderr], daemon=True).start()
writes = []
results = collections.Counter()
lock = threading.Lock()
ending = time.monotonic() + seconds


def fetch(path, slow):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        if slow:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        data = b""
        try:
            while b"\r\n\r\n" not in data:
                data += s.recv(65536)
            head, data = data.split(b"\r\n\r\n", 1)
            length = int(re.search(rb"(?i)content-length: *(\d+)", head).group(1))
            digest, count = hashlib.sha256(data), len(data)
            while count < length:
                data = s.recv(65536)
                if not data:
                    return "cut"
                digest.update(data)
                count += len(data)
                if slow:
                    time.sleep(0.005)
        except OSError:
            return "cut"
        return "right" if digest.hexdigest() == wanted[path] else "wrong"


def client(slow, rnd):
    while time.monotonic() < ending:
        path = rnd.choice(paths)
        begin = time.monotonic()
        result = fetch(path, slow)
        kind = "slow" if slow else "quick"
        if result == "wrong":
            end = time.monotonic()
            during = any(begin <= at <= end for at in writes)
            result += " (a write while it was under way)" if during else " (no write while it was under way)"
        with lock:
            results[f"{kind} {result}"] += 1


def writer(rnd):
    while time.monotonic() < ending:
        time.sleep(rnd.uniform(0.01, 0.1))
        files = [os.path.join(d, f) for d, _, names in os.walk(os.path.join(cache, "bodies")) for f in names]
        if not files:
            continue
        try:
            with open(rnd.choice(files), "r+b") as f:
                size = os.fstat(f.fileno()).st_size
                if size:
                    at = rnd.randrange(size)
                    byte = os.pread(f.fileno(), 1, at)
                    writes.append(time.monotonic())
                    os.pwrite(f.fileno(), bytes([byte[0] ^ 1]), at)
        except OSError:
            pass


for path in paths:
    for _ in range(2):
        fetch(path, False)
threads = [threading.Thread(target=client, args=(n % 2 == 1, random.Random(seed * 100 + n))) for n in range(8)]
threads.append(threading.Thread(target=writer, args=(random.Random(seed),)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
serve.terminate()
serve.wait()
shutil.rmtree(work, ignore_errors=True)
print(f"{sum(results.values())} answers, {len(writes)} writes, seed {seed}")
for kind, count in sorted(results.items()):
    print(f"  {count:6} {kind}")
