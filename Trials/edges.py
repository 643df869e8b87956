#!/usr/bin/env python3
"""The edges of `serve`, tried with raw sockets: upgrades, tunnels, slow clients, time, memory, pipelining.

    edges.py HTTPCACHE [PART...]

Without parts all run, about three minutes. Each line is `ok` or `FAIL` with the figure that was measured.
"""
import contextlib, multiprocessing, os, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time

PROGRAM = sys.argv[1]
RESULTS = {"ok": 0, "FAIL": 0}


def check(name, holds, figure=""):
    RESULTS["ok" if holds else "FAIL"] += 1
    print("%-4s %s%s" % ("ok" if holds else "FAIL", name, ": " + figure if figure else ""), flush=True)


class Origin:
    """Runs `handle(connection, head, rest)` in a thread for each connection."""

    def __init__(self, handle, backlog=1024):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port = self.socket.getsockname()[1]
        self.handle = handle
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError):
            rest = b""
            while True:
                while b"\r\n\r\n" not in rest:
                    got = connection.recv(65536)
                    if not got:
                        return
                    rest += got
                head, rest = rest.split(b"\r\n\r\n", 1)
                rest = self.handle(connection, head.decode("latin-1"), rest)
                if rest is None:
                    return


class Proxy:
    def __init__(self, *options):
        self.directory = tempfile.mkdtemp()
        self.errors = open(os.path.join(self.directory, "errors"), "w+")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--dir", self.directory + "/cache", "--access-log", "none",
             "--min-free", "0", *options], stdout=subprocess.DEVNULL, stderr=self.errors)
        for _ in range(400):
            found = re.search(r"listening on https?://127\.0\.0\.1:(\d+)", open(self.errors.name).read())
            if found:
                self.port = int(found.group(1))
                return
            time.sleep(0.05)
        raise SystemExit("serve did not start: " + open(self.errors.name).read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def connect(self, buffer=None):
        client = socket.socket()
        if buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        client.connect(("127.0.0.1", self.port))
        client.settimeout(100)
        return client

    def get(self, path="/", client=None):
        """The status and the seconds that a GET takes."""
        client = client or self.connect()
        start = time.monotonic()
        client.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % path.encode())
        head = until(client, b"\r\n\r\n")
        return head.split(b" ")[1].decode() if head.count(b" ") else "closed", time.monotonic() - start

    def memory(self, field="VmRSS"):
        """Resident memory in MiB."""
        with open("/proc/%d/status" % self.process.pid) as status:
            return int(re.search(field + r":\s+(\d+)", status.read()).group(1)) / 1024


def until(connection, mark):
    got = b""
    with contextlib.suppress(OSError):
        while mark not in got:
            more = connection.recv(65536)
            if not more:
                break
            got += more
    return got


def upstream(origin):
    return ["--shared", "--upstream", "http://127.0.0.1:%d" % origin.port]


def body_of(head, rest, connection):
    length = int(re.search(r"(?i)content-length: *(\d+)", head).group(1))
    while len(rest) < length:
        got = connection.recv(65536)
        if not got:
            return None
        rest += got
    return rest[length:]


OK = b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
ASK = b"GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


def plain(connection, head, rest):
    """Agrees to upgrades, takes bodies, and sends what `/size/N` asks for, not to be stored."""
    if "pgrade: websocket" in head:
        connection.sendall(SWITCH)
        while True:
            got = connection.recv(65536)
            if not got:
                return None
            connection.sendall(got)
    if head.startswith("POST"):
        rest = body_of(head, rest, connection)
        if rest is None:
            return None
    if "/size/" in head:
        size = int(re.search(r"/size/(\d+)", head).group(1))
        kept = "max-age=600" if "/kept" in head else "no-store"
        connection.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: %s\r\nContent-Length: %d\r\n\r\n" % (kept.encode(), size))
        piece = b"x" * 65536
        while size > 0:
            connection.sendall(piece[:size])
            size -= len(piece)
    else:
        connection.sendall(OK)
    return rest


def part_upgrade():
    with Proxy(*upstream(Origin(plain))) as proxy:
        client = proxy.connect()
        client.settimeout(5)
        start = time.monotonic()
        client.sendall(ASK)
        head = until(client, b"\r\n\r\n")
        check("the 101 goes out at once", b"101" in head[:20], "%.0f ms" % ((time.monotonic() - start) * 1000))


def miss_beside(name, proxy, limit=2):
    status, seconds = proxy.get("/miss")
    check("a miss beside " + name, status == "200" and seconds < limit, "%s after %.1f s" % (status, seconds))


def part_places():
    with Proxy(*upstream(Origin(plain)), "--timeout", "6") as proxy:
        held = [proxy.connect() for _ in range(200)]
        for client in held:
            client.sendall(ASK)
        time.sleep(1)
        miss_beside("200 idle WebSockets", proxy)
    with Proxy(*upstream(Origin(plain)), "--timeout", "6") as proxy:
        held = [proxy.connect() for _ in range(200)]
        for client in held:
            client.sendall(b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx")
        time.sleep(1)
        miss_beside("200 POSTs of one byte", proxy)
    with Proxy(*upstream(Origin(plain)), "--timeout", "6") as proxy:
        held = [proxy.connect(4096) for _ in range(200)]
        for client in held:
            client.sendall(b"GET /size/20000000 HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(3)
        miss_beside("200 slow readers of what is not stored", proxy)


def part_limit():
    origin = Origin(plain)
    with Proxy(*upstream(origin), "--connections-per-client", "8") as proxy:
        held = [proxy.connect() for _ in range(8)]
        for client in held[:4]:
            client.sendall(ASK)
            until(client, b"\r\n\r\n")
        for client in held[4:]:
            proxy.get("/", client)
        status, _ = proxy.get("/", proxy.connect())
        check("the 9th connection of an address, 4 of the others WebSockets", status == "429", status)
        held[0].close()
        time.sleep(0.5)
        status, _ = proxy.get("/", proxy.connect())
        check("after one of them ended", status == "200", status)


def part_upload():
    with Proxy(*upstream(Origin(plain)), "--timeout", "4") as proxy:
        client = proxy.connect()
        client.sendall(b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 16\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(16):
                time.sleep(0.5)
                client.sendall(b"x")
        status = until(client, b"\r\n\r\n")[9:12].decode()
        check("an upload of 8 s with --timeout 4", status == "200", status)


def part_connect():
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    fillers = []
    for _ in range(3):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(full.getsockname())
        fillers.append(filler)
    with Proxy("--upstream", "http://127.0.0.1:%d" % full.getsockname()[1], "--timeout", "2") as proxy:
        status, seconds = proxy.get()
        check("an origin that takes no connection, --timeout 2", status == "504" and seconds < 3,
              "%s after %.1f s" % (status, seconds))


def part_reader(rates=(16, 64), seconds=100):
    """Steady readers, of a hit and of what is not stored, beyond the 60 s."""
    origin = Origin(plain)
    for options in (["--disk", "0", "--memory", "64M"], []):
        with Proxy(*upstream(origin), *options) as proxy:
            proxy.get("/size/8388608/kept")[0]
            warm = proxy.connect()
            warm.sendall(b"GET /size/8388608/kept HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            while warm.recv(1 << 20):
                pass
            readers = []
            for rate in rates:
                for path in ("/size/8388608/kept", "/size/8388608"):
                    client = proxy.connect()
                    client.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % path.encode())
                    readers.append((rate, path, client, [0, None]))

            def read(rate, client, state):
                start = time.monotonic()
                try:
                    while time.monotonic() - start < seconds and state[0] < 8388608:
                        got = len(client.recv(rate * 128))
                        if not got:
                            break
                        state[0] += got
                        time.sleep(max(0, start + state[0] / (rate * 1024) - time.monotonic()))
                except OSError as error:
                    state[1] = str(error)
                state.append(time.monotonic() - start)

            threads = [threading.Thread(target=read, args=(r, c, s)) for r, _, c, s in readers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for rate, path, _, state in readers:
                check("%d KiB/s, %s, %s" % (rate, "hit" if "kept" in path else "not stored", options[0:2] or "disk"),
                      state[1] is None and (state[2] >= seconds or state[0] >= 8388608),
                      "%.0f s, %d KiB%s" % (state[2], state[0] >> 10, ", " + state[1] if state[1] else ""))


def part_drip():
    with Proxy(*upstream(Origin(plain))) as proxy:
        client = proxy.connect(4096)
        client.sendall(b"GET /size/20000000 HTTP/1.1\r\nHost: h\r\n\r\n")
        start = time.monotonic()
        taken = 0
        with contextlib.suppress(OSError):
            while time.monotonic() - start < 150:
                got = client.recv(100)
                if not got:
                    break
                taken += len(got)
                time.sleep(1)
        seconds = time.monotonic() - start
        check("a reader of 100 B/s is cut", seconds < 149, "%.0f s, %d B" % (seconds, taken))


def part_memory(readers=200, size=8 << 20):
    origin = Origin(plain)
    for name, options in (("--disk 0", ["--disk", "0", "--memory", "64M"]), ("disk", ["--memory", "1M"])):
        with Proxy(*upstream(origin), *options) as proxy:
            for _ in range(2):
                warm = proxy.connect()
                warm.sendall(b"GET /size/%d/kept HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" % size)
                while warm.recv(1 << 20):
                    pass
            time.sleep(0.5)
            before = proxy.memory()
            held = [proxy.connect(4096) for _ in range(readers)]
            for client in held:
                client.sendall(b"GET /size/%d/kept HTTP/1.1\r\nHost: h\r\n\r\n" % size)
            time.sleep(6)
            grown = proxy.memory() - before
            check("%d readers that do not read, %s: VmRSS grows by at most 48 MiB" % (readers, name), grown <= 48,
                  "%.0f MiB, from %.0f; VmHWM %.0f" % (grown, before, proxy.memory("VmHWM")))
            for client in held:
                client.close()
            time.sleep(14)
            left = proxy.memory() - before
            check("and gives it back, %s" % name, left <= 16, "%.0f MiB more than before" % left)


def flood(port, seconds):
    """Sends requests with short answers as fast as they are taken, and never reads."""
    requests = b"HEAD /size/1000/kept HTTP/1.1\r\nHost: h\r\n\r\n" * 40000
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        client = socket.create_connection(("127.0.0.1", port))
        client.settimeout(1)
        with contextlib.suppress(OSError):
            client.sendall(requests)
        client.close()


def part_pipelining(seconds=25):
    with Proxy(*upstream(Origin(plain)), "--disk", "0") as proxy:
        others = [proxy.connect() for _ in range(4)]

        def whole(client):
            start = time.monotonic()
            client.sendall(b"GET /size/1000/kept HTTP/1.1\r\nHost: h\r\n\r\n")
            got = b""
            while len(got.partition(b"\r\n\r\n")[2]) < 1000:
                got += client.recv(65536)
            return time.monotonic() - start

        for client in others:
            whole(client)
        calm = max(whole(client) for client in others for _ in range(100))
        # In a process of its own, so that it does not keep this one from measuring.
        flooder = multiprocessing.Process(target=flood, args=(proxy.port, seconds))
        flooder.start()
        taken = []
        while flooder.is_alive():
            taken += [whole(client) for client in others]
        taken.sort()
        check("others beside a pipelining client that never reads: 100 ms at most", taken[-1] <= 0.1,
              "%.0f ms at worst of %d, median %.0f ms (without it %.0f ms at worst)"
              % (taken[-1] * 1000, len(taken), taken[len(taken) // 2] * 1000, calm * 1000))


def part_tunnel(seconds=620):
    """One direction moves for longer than the 600 s of silence. Only if asked for."""
    def talk(connection, head, rest):
        connection.sendall(SWITCH)
        while True:
            connection.sendall(b"t")
            time.sleep(5)
    with Proxy(*upstream(Origin(talk))) as proxy:
        client = proxy.connect()
        client.sendall(ASK)
        start = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - start < seconds and client.recv(1000):
                pass
        check("a tunnel in which one side speaks", time.monotonic() - start >= seconds,
              "%.0f s" % (time.monotonic() - start))


parts = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}
for name in sys.argv[2:] or [name for name in parts if name != "tunnel"]:
    print("== " + name, flush=True)
    parts[name]()
print("%(ok)d passed, %(FAIL)d failed" % RESULTS)
sys.exit(RESULTS["FAIL"] > 0)
