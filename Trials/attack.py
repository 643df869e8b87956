#!/usr/bin/env python3
"""All hostile clients at once, beside well-behaved ones: attack.py HTTPCACHE [SECONDS [MIB]] [--no-times]

Two servers, one with --h2c and one with TLS, with a share of 64 for each client and an admin listener. Hostile clients
have the addresses 127.0.0.2 to 127.0.0.5, the well-behaved client has 127.0.0.9 and sends 200 requests a second, half of
them answered from memory. None of them may fail, or take 100 ms more than the slowest one of the time before the attack;
the resident memory of a server stays below MIB (400). --no-times is for machines with other things to do. ONLY=kind,kind in the environment chooses kinds.

Hostile clients would have processors of their own: here they and their origin have a low priority, and if root runs this,
the servers, the well-behaved client and its origin have a high one, before all other programs of the machine. A witness
on each processor with the highest one notes when the machine let it wait, as virtual machines do: these times do not
count. The program is copied to memory (/dev/shm) where there is such a folder, so that no request waits until the disk
gives back a piece of it that the system had dropped. What is late is then the server's doing.
"""
import asyncio, gc, multiprocessing, os, random, select, shutil, signal, socket, ssl, struct, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers

ARGUMENTS = [argument for argument in sys.argv[1:] if argument != "--no-times"]
BINARY, SECONDS = ARGUMENTS[0], float(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 60
LIMIT = int(ARGUMENTS[2]) if len(ARGUMENTS) > 2 else 400
ONLY = os.environ.get("ONLY", "").split(",") if os.environ.get("ONLY") else []
IS_TIMED = "--no-times" not in sys.argv
CALM = min(60, SECONDS / 4)
# Without times, as many requests as a debug build answers beside other programs.
RATE, PATIENCE = (200, 10) if IS_TIMED else (40, 60)
# What waits in the buffers of hostile clients and of their origin would wait on their machines. Here it would use up the
# memory that the system has for all sockets (4 MB for each connection of the origin), and the system would then drop the
# packets of all: a request waits for a repetition, for 200 ms or more.
BUFFER = 65536
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PIECE = b"x" * 65536
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PING, WINDOW, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    count = len(value)
    if count < 127:
        return bytes([count]) + value
    rest, coded = count - 127, b"\x7f"
    while rest >= 128:
        coded, rest = coded + bytes([rest & 127 | 128]), rest >> 7
    return coded + bytes([rest]) + value


def block(path, method=b"GET", more=()):
    fields = [(b":method", method), (b":scheme", b"http"), (b":authority", b"h"), (b":path", path), *more]
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def begin(window=65535):
    return PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window))


# The origin: /hit… may be stored, /long is 4 MB that may not, everything else is short and may not.
async def origin(at):
    async def answer(reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                target = head.split(b" ")[1]
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        await reader.readexactly(int(line.split(b":")[1]))
                length = 4 << 20 if target.startswith(b"/long") else 60_000 if b"/hit" in target else 100
                rule = b"max-age=3600" if b"/hit" in target else b"no-store"
                writer.write(b"HTTP/1.1 200 OK\r\nCache-Control: %s\r\nContent-Length: %d\r\n\r\n" % (rule, length))
                # A piece at a time: most clients of /long never read.
                for start in range(0, length, 65536):
                    writer.write(PIECE[: min(65536, length - start)])
                    await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, IndexError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", at, backlog=4096)
    await server.serve_forever()


# Hostile clients. Each holds at most a few hundred sockets, and pauses: they must not take the processor from the
# server, which would delay any server.
class Hostile:
    def __init__(self, ports, admins, tls):
        self.ports, self.admins, self.tls, self.held = ports, admins, tls, []
        self.random = random.Random(os.getpid())

    def connect(self, at):
        peer = socket.socket()
        peer.settimeout(2)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        peer.bind((f"127.0.0.{self.random.randint(2, 5)}", 0))
        peer.connect(("127.0.0.1", at))
        return peer

    def secure(self, peer, protocols):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(protocols)
        return context.wrap_socket(peer)

    def open(self, payload, protocols=("h2",), keep=True, resets=False, later=()):
        """Sends bytes on a new connection to one of the servers, more of them later, and keeps it, ends it, or resets it."""
        at = self.random.choice(self.ports)
        peer = self.connect(at)
        if at == self.tls:
            peer = self.secure(peer, list(protocols))
        peer.settimeout(0.2)
        try:
            peer.sendall(payload)
            for more in later:
                time.sleep(0.02)
                # What is not read waits in the server.
                if self.random.random() < 0.5 and select.select([peer], [], [], 0)[0]: peer.recv(BUFFER)
                peer.sendall(more)
        except (TimeoutError, OSError):
            pass
        self.finish(peer, keep, resets)

    def finish(self, peer, keep, resets):
        if keep:
            self.held.append(peer)
            if len(self.held) > 120:
                self.held.pop(0).close()
            return
        if resets:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()

    def streams(self, path, method=b"GET", ends=True, count=100, more=()):
        flags = 5 if ends else 4
        return b"".join(frame(HEADERS, flags, 2 * n + 1, block(path % n, method, more)) for n in range(count))

    def silent(self):
        self.finish(self.connect(self.random.choice(self.ports + self.admins)), True, False)

    def part(self):
        peer = self.connect(self.random.choice(self.ports + self.admins))
        peer.sendall(self.random.choice([b"GET / HT", PREFACE[:9], b"\x16\x03\x01\x02\x00\x01"]))
        self.finish(peer, True, False)

    def closed_window_hits(self): self.open(begin(0) + self.streams(b"/hit%d"))
    def closed_window_misses(self): self.open(begin(0) + self.streams(b"/long%d"))
    def smaller_windows(self):
        size = lambda value: frame(SETTINGS, 0, 0, struct.pack(">HI", 4, value))
        wider = frame(WINDOW, 0, 0, struct.pack(">I", 1 << 18))
        sizes = [self.random.choice([0, 1, 1000, 65535, (1 << 31) - 1]) for _ in range(4)]
        path = self.random.choice([b"/hit%d", b"/long%d", b"/%d"])
        self.open(begin(self.random.choice([50, 16384, 65535])) + wider + self.streams(path),
                  later=[size(value) + wider for value in sizes])
    def open_posts(self): self.open(begin() + self.streams(b"/post%d", b"POST", ends=False))
    def rapid_reset(self):
        both = lambda n: frame(HEADERS, 5, 2 * n + 1, block(b"/%d" % n)) + frame(RESET, 0, 2 * n + 1, b"\0\0\0\x08")
        self.open(begin() + b"".join(both(n) for n in range(400)), keep=False)
    def pings(self): self.open(begin() + frame(PING, 0, 0, b"12345678") * 500, keep=False, resets=True)
    def settings(self): self.open(begin() + frame(SETTINGS, 0, 0) * 500, keep=False)
    def continuations(self):
        self.open(begin() + frame(HEADERS, 1, 1, block(b"/")) + frame(CONTINUATION, 0, 1, b"") * 50, keep=False)
    def large_heads(self):
        self.open(begin() + self.streams(b"/head%d", more=[(b"x-%d" % n, b"y" * 400) for n in range(30)], count=30))
    def malformed(self): self.open(begin() + self.streams(b"bad path%d", count=50), keep=False)
    def slow_head(self): self.open(b"GET / HTTP/1.1\r\nHost: h\r\nX: ", ("http/1.1",))
    def slow_body(self): self.open(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx", ("http/1.1",))
    def never_reads(self): self.open(b"GET /long HTTP/1.1\r\nHost: h\r\n\r\n", ("http/1.1",))
    def pipeline(self): self.open(b"GET /hit1 HTTP/1.1\r\nHost: h\r\n\r\n" * 400, ("http/1.1",))
    def nonsense(self): self.open(self.random.randbytes(3000), ("http/1.1",), keep=False)
    def cut(self):
        whole = self.random.choice([
            begin() + self.streams(b"/hit%d"), PREFACE + frame(SETTINGS, 0, 0) + frame(PING, 0, 0, b"12345678") * 180,
            b"GET /hit1 HTTP/1.1\r\nHost: h\r\n\r\n" * 40,
            b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"])
        self.open(whole[: self.random.randrange(len(whole))], keep=False, resets=True)
    def cut_handshake(self):
        peer = self.connect(self.tls)
        peer.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + self.random.randbytes(self.random.randrange(600)))
        self.finish(peer, False, True)

    def run(self, end):
        kinds = [getattr(self, name) for name in vars(Hostile) if name not in
                 ("__init__", "connect", "secure", "open", "finish", "streams", "run") and not name.startswith("__")
                 and (not ONLY or name in ONLY)]
        counts = {kind.__name__: 0 for kind in kinds}
        while time.time() < end:
            kind = self.random.choice(kinds)
            try:
                kind()
                counts[kind.__name__] += 1
            except OSError:
                pass
            time.sleep(0.02)
        return counts


def attack(ports, admins, tls, end, results):
    set_priority(15)
    results.put(Hostile(ports, admins, tls).run(end))


# The well-behaved client: a request each 5 ms on kept connections, over HTTP/1.1 with and without TLS.
class Client:
    def __init__(self, ports, tls):
        self.ports, self.tls, self.free = ports, tls, {p: [] for p in ports}
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.failures, self.times = [], []

    async def request(self, number):
        at = self.ports[number % 2]
        path = f"/calm/hit{number % 50}" if number % 4 < 2 else f"/calm/miss{number}"
        start, tries, head_after = time.monotonic(), 0, 0
        try:
            # A kept connection may have ended while it was idle: then the request is sent again (RFC 9112 §9.3.1).
            while True:
                is_kept, tries = bool(self.free[at]), tries + 1
                reader, writer = self.free[at].pop() if is_kept else await asyncio.open_connection(
                    "127.0.0.1", at, ssl=self.context if at == self.tls else None, local_addr=("127.0.0.9", 0))
                try:
                    writer.write(f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
                    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
                    head_after = (time.monotonic() - start) * 1000
                    break
                except (asyncio.IncompleteReadError, OSError):
                    if not is_kept: raise
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            body = await asyncio.wait_for(reader.readexactly(length), PATIENCE)
            if not head.startswith(b"HTTP/1.1 200 ") or body != b"x" * (60_000 if number % 4 < 2 else 100):
                raise ValueError(head[:60])
            self.free[at].append((reader, writer))
        except Exception as error:
            self.failures.append(f"{path}: {error!r}")
        self.times.append((start, time.monotonic(), f"{path}, {'TLS' if at == self.tls else 'plain'}, connection {tries}, "
                           f"{'kept' if is_kept else 'new'}, head after {head_after:.1f} ms"))

    async def run(self, seconds):
        self.times, tasks, start, count = [], set(), time.monotonic(), 0
        number = random.randrange(1 << 30) * 4
        while (elapsed := time.monotonic() - start) < seconds:
            while count < int(elapsed * RATE):
                tasks.add(task := asyncio.create_task(self.request(number + count)))
                task.add_done_callback(tasks.discard)
                count += 1
            await asyncio.sleep(0.005)
        await asyncio.gather(*tasks)
        return sorted(end - start for start, end, _ in self.times)


def witness(processor, pipe):
    """Notes when this processor was not there for the most urgent process, as (start, end), until the pipe says stop."""
    os.sched_setaffinity(0, {processor})
    set_priority(-20)
    waits = []
    while True:
        before = time.monotonic()
        is_ended = pipe.poll(0.005)
        if (now := time.monotonic()) - before > 0.015: waits.append((before + 0.005, now))
        if is_ended: break
    pipe.send(waits)


def joined(spans):
    result = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]: result[-1] = (result[-1][0], max(end, result[-1][1]))
        else: result.append((start, end))
    return result


def set_priority(value):
    try:
        os.setpriority(os.PRIO_PROCESS, 0, value)
    except PermissionError:
        # Only root may raise it.
        pass


def run_origin(port, priority):
    set_priority(priority)
    asyncio.run(origin(port))


def resident(process):
    for line in open(f"/proc/{process.pid}/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def raise_threads(process):
    """Gives the threads of a server the priority that it was started with: libdispatch gives its threads that of a program
    that nobody has raised, and the event loops, which one of them makes, have it too."""
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        try:
            os.setpriority(os.PRIO_PROCESS, int(thread), os.getpriority(os.PRIO_PROCESS, 0))
        except (PermissionError, ProcessLookupError):
            pass


def faults(process):
    """Pages that had to be read from a disk while a process waited (proc_pid_stat(5))."""
    return int(open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()[9])


def main():
    set_priority(-10)
    try:
        # Linux shares the processors between sessions first, whatever the priorities of their processes (sched(7)).
        open("/proc/self/autogroup", "w").write("-19")
    except OSError:
        # Only root may raise it, and not every kernel has it.
        pass
    folder = tempfile.mkdtemp(prefix="hostile-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    program = shutil.copy(BINARY, folder)
    at, calm_at, plain, tls, *admins = [servers.free_port() for _ in range(6)]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", f"{folder}/key", "-out", f"{folder}/certificate"],
                   check=True, capture_output=True)
    # The well-behaved client has an origin of its own: an origin that the attack keeps busy would delay any server.
    behind = [multiprocessing.Process(target=run_origin, args=pair, daemon=True) for pair in ((at, 15), (calm_at, -10))]
    for process in behind: process.start()
    with open(f"{folder}/serve.yaml", "w") as file:
        file.write(f"upstream: http://127.0.0.1:{at}\nroutes:\n  - {{path: /calm, upstream: 'http://127.0.0.1:{calm_at}'}}\n")
    options = ["--config", f"{folder}/serve.yaml", "--connections-per-client", "64", "--access-log", "none",
               "--capacity", "0", "--memory", "32M"]
    proxies = []
    for number, (listen, more) in enumerate([(plain, ["--h2c"]), (tls, ["--tls-certificate", f"{folder}/certificate", "--tls-key", f"{folder}/key"])]):
        log = open(f"{folder}/log{number}", "w")
        proxies.append(subprocess.Popen(
            [program, "serve", *options, "--listen", f"127.0.0.1:{listen}", "--admin", f"127.0.0.1:{admins[number]}", *more],
            # A signal to the group of the trial is none to the servers. A session of their own would have its own share of
            # the processors, beside that of the hostile clients.
            stdout=log, stderr=log, preexec_fn=os.setpgrp,
            # As the unit of the package sets it, and a trace of what ends a server.
            env={**os.environ, "MALLOC_ARENA_MAX": "2", "SWIFT_BACKTRACE": "enable=yes,color=no,interactive=no"}))
    time.sleep(2)
    for number, server in enumerate(proxies):
        if server.poll() is not None:
            for other in proxies + behind: other.terminate()
            sys.exit(f"server {number} did not start:\n{open(f'{folder}/log{number}').read()}")
    client = Client([plain, tls], tls)
    # Looking through all objects of half an hour would stop this client for hundreds of milliseconds.
    gc.disable()
    results = multiprocessing.Queue()
    pipes = [multiprocessing.Pipe() for _ in os.sched_getaffinity(0)]
    witnesses = [multiprocessing.Process(target=witness, args=(processor, pipe[1]), daemon=True)
                 for processor, pipe in zip(sorted(os.sched_getaffinity(0)), pipes)]
    ended, ends = True, []
    try:
        calm = asyncio.run(run_calm(client))
        for server in proxies: raise_threads(server)
        for process in witnesses: process.start()
        before = sum(faults(server) for server in proxies)
        end = time.time() + SECONDS
        hostile = [multiprocessing.Process(target=attack, args=([plain, tls], admins, tls, end, results)) for _ in range(4)]
        for process in hostile: process.start()
        client.free = {p: [] for p in client.ports}
        times = asyncio.run(client.run(SECONDS))
        for pipe, _ in pipes: pipe.send("stop")
        waits = joined(span for pipe, _ in pipes for span in pipe.recv())
        counts = {}
        for _ in hostile:
            for kind, count in results.get(timeout=60).items(): counts[kind] = counts.get(kind, 0) + count
        memory = [resident(server) for server in proxies]
        read = sum(faults(server) for server in proxies) - before
        alive = [server.poll() is None for server in proxies]
        ended = not all(alive)
    finally:
        for number, server in enumerate(proxies):
            if server.poll() is not None:
                ends.append(f"server {number} ended with status {server.returncode}; its log is in {folder}")
                print("".join(open(f"{folder}/log{number}").readlines()[-50:]))
                print(ends[-1])
        for server in proxies:
            if server.poll() is None: server.send_signal(signal.SIGTERM)
        for process in behind: process.terminate()
        if not ended: shutil.rmtree(folder, ignore_errors=True)
    share = lambda values, part: values[min(len(values) - 1, int(len(values) * part))] * 1000
    print("hostile connections:", sum(counts.values()), ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    for name, values in (("before", calm), ("meanwhile", times)):
        print(f"{name}: {len(values)} requests, median {share(values, .5):.1f} ms, p99 {share(values, .99):.1f} ms, slowest {values[-1] * 1000:.1f} ms")
    allowed = calm[-1] + 0.1
    late = []
    for start, end, name in client.times:
        if end - start >= allowed:
            due = end - start - sum(max(0, min(end, last) - max(start, first)) for first, last in waits)
            if due >= allowed:
                beside = sorted(((last - first) * 1000 for first, last, _ in client.times if first < end and last > start), reverse=True)
                late.append(f"after {start - client.times[0][0]:.1f} s: {name}: {(end - start) * 1000:.1f} ms, {due * 1000:.1f} ms with a machine; "
                            f"{len(beside)} at the same time, the slowest {', '.join(f'{value:.1f}' for value in beside[:8])} ms")
    waited = [last - first for first, last in waits]
    print(f"requests that took {allowed * 1000:.1f} ms or more: {sum(value >= allowed for value in times)}, and {len(late)} of them "
          f"without the {sum(waited) * 1000:.0f} ms in which a processor was not there, at most {max(waited, default=0) * 1000:.1f} ms at a time")
    for line in late[:50]: print("late:", line)
    print(f"pages of the servers that were read from a disk: {read}")
    print("highest resident memory of the servers:", ", ".join(f"{value} MiB" for value in memory))
    checks = [("no server ended", all(alive)), ("no request failed", not client.failures),
              *([("no request took 100 ms more than the slowest before", not late)] if IS_TIMED else []),
              (f"memory below {LIMIT} MiB", max(memory) < LIMIT)]
    for failure in client.failures[:5]: print("failed:", failure)
    for end in ends: print(end)
    for name, passed in checks: print("ok:" if passed else "FAILED:", name)
    print(f"{sum(passed for _, passed in checks)} passed, {sum(not passed for _, passed in checks)} failed")
    sys.exit(0 if all(passed for _, passed in checks) else 1)


async def run_calm(client):
    # Stores what the other requests find, and makes the system read the code.
    await client.run(2)
    return await client.run(CALM)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
