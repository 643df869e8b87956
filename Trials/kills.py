#!/usr/bin/env python3
"""kill -9 of `serve` at random moments while it stores; then restart, verify, repair, compare every body.

    kills.py HTTPCACHE [ROUNDS] [SEED] [DISK]
"""
import collections, hashlib, http.client, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import origin as O
import servers
import tally
from tally import check

binary = sys.argv[1]
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20261121
print(f"seed {seed}, {rounds} rounds, disk {sys.argv[4] if len(sys.argv) > 4 else '2G'}", flush=True)
disk = sys.argv[4] if len(sys.argv) > 4 else "2G"
rnd = random.Random(seed)
SIZES = [0, 1, 100, 4095, 4096, 4097, 20_000, 65_535, 65_536, 65_537, 200_000, 300_000, 1_000_000, 2_500_000, 5 << 20]
server = servers.started(O.Handler)
upstream = f"http://127.0.0.1:{server.server_address[1]}"
work = tempfile.mkdtemp(prefix="kills-")
cache = os.path.join(work, "cache")
wanted = {}


def want(path):
    if path not in wanted:
        wanted[path] = O.digest(path)
    return wanted[path]


def start():
    p = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--shared", "--upstream", upstream, "--dir", cache,
                          "--disk", disk, "--memory", "1M", "--access-log", "none"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, bufsize=1)
    p.lines = []
    ready = threading.Event()
    p.port = None

    def read():
        for line in p.stderr:
            p.lines.append(line.rstrip())
            m = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line)
            if m:
                p.port = int(m.group(1))
                ready.set()
        ready.set()
    threading.Thread(target=read, daemon=True).start()
    ready.wait(20)
    return p


def get(port, path, timeout=20):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        # The client's Host is a part of the key, and each process listens on another port.
        c.request("GET", path, headers={"Host": "kills.test"})
        r = c.getresponse()
        body = r.read()
        return r.status, body, r.getheader("Cache-Status", "")
    finally:
        c.close()


def right(path, body):
    return hashlib.sha256(body).hexdigest() == want(path)


def run(*args):
    r = subprocess.run([binary, *args, "--dir", cache], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return r.returncode, r.stdout.strip()


def files_of_bodies():
    return {os.path.join(d, f) for d, _, fs in os.walk(os.path.join(cache, "bodies")) for f in fs}


counts = collections.Counter()
paths = []
serial = 0
for n in range(rounds):
    p = start()
    check(f"round {n}: opens for loading", p.port is not None, p.lines)
    if p.port is None:
        continue
    stop = threading.Event()
    lock = threading.Lock()

    def load(r):
        global serial
        while not stop.is_set():
            with lock:
                if paths and r.random() < 0.25:
                    path = r.choice(paths)
                else:
                    serial += 1
                    path = f"/size/{r.choice(SIZES)}/{n}-{serial}"
                    paths.append(path)
            try:
                status, body, _ = get(p.port, path)
                with lock:
                    counts["answers while loading"] += 1
                    if status != 200 or not right(path, body):
                        counts["wrong bodies"] += 1
                        print(f"FAIL round {n}: wrong body while loading {path} {status} {len(body)}", flush=True)
            except (OSError, http.client.HTTPException):
                with lock:
                    counts["requests cut off by a kill"] += p.poll() is not None or stop.is_set()
                if not stop.is_set():
                    time.sleep(0.01)
    threads = [threading.Thread(target=load, args=(random.Random(rnd.random()),), daemon=True) for _ in range(6)]
    for t in threads:
        t.start()
    moment = rnd.uniform(0.05, 1.5)
    time.sleep(moment)
    p.send_signal(signal.SIGKILL)
    stop.set()
    p.wait()
    for t in threads:
        t.join(25)
    counts["kills"] += 1
    before = files_of_bodies()

    # Half of the rounds look at the directory before anything opened it, half after serve did.
    if n % 2:
        q = start()
        check(f"round {n}: opens", q.port is not None, q.lines)
        counts["opened"] += q.port is not None
        if q.port is not None:
            q.terminate()
            q.wait()
    else:
        q = None
    code, said = run("verify")
    last = said.splitlines()[-1] if said else ""
    clean = code == 0
    counts["verify clean" if clean else "verify with findings"] += 1
    if not clean:
        print(f"     round {n} ({moment:.3f} s): verify exit {code}: {said[:600]}", flush=True)
        counts["findings named"] += max(0, len(said.splitlines()) - 1)
    check(f"round {n}: verify clean or naming", clean or len(said) > 0, (code, said))
    code, said = run("verify", "--repair")
    code2, said2 = run("verify")
    check(f"round {n}: clean after --repair", code2 == 0, (code, said, code2, said2))

    after = files_of_bodies()
    counts["files removed by opening and repair"] += len(before - after)
    counts["kills that left such files"] += bool(before - after)
    q = start()
    if n % 2 == 0:
        check(f"round {n}: opens", q.port is not None, q.lines)
        counts["opened"] += q.port is not None
    if q.port is None:
        continue
    wrong = 0
    code, listed = run("ls", "--json")
    counts["entries after restart"] += listed.count('"url"')
    # everything of this round, and some of the earlier ones
    mine = [x for x in paths if x.split("/")[3].startswith(f"{n}-")]
    old = [x for x in paths if not x.split("/")[3].startswith(f"{n}-")]
    for path in mine + rnd.sample(old, min(10, len(old))):
        try:
            status, body, how = get(q.port, path)
        except (OSError, http.client.HTTPException) as e:
            counts["failed requests"] += 1
            check(f"round {n}: answer for {path}", False, repr(e))
            continue
        counts["bodies compared"] += 1
        hit = "; hit" in how
        counts["from the cache" if hit else "from the origin"] += 1
        if status != 200 or not right(path, body):
            wrong += 1
            print(f"     wrong: {path} {status} {len(body)} {how}", flush=True)
    counts["wrong bodies"] += wrong
    check(f"round {n}: no wrong body", wrong == 0)
    others = [l for l in q.lines + p.lines if "listening" not in l]
    counts["lines on stderr"] += len(others)
    for l in others[:3]:
        print(f"     stderr: {l}", flush=True)
    q.terminate()
    q.wait()
# The last: all that is stored, at rest.
code, said = run("verify")
check("verify at the end", code == 0, said)
print("     at the end: " + (said.splitlines()[-1] if said else ""))
files = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(cache) for f in fs)
code, stats = run("stats", "--json")
print(f"     bytes in the directory {files}, stats {stats}".replace(cache, "DIR"))
for k, v in counts.items():
    print(f"     {k}: {v}")
check("no wrong body at all", counts["wrong bodies"] == 0)
check("bodies of killed processes came from the cache", counts["from the cache"] > rounds)
shutil.rmtree(work)
print(f"{tally.passed} passed, {tally.failed} failed")
sys.exit(tally.failed != 0)
