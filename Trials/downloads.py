#!/usr/bin/env python3
"""Measures downloads through a queue: cuts, segments, rates beside curl and aria2c, and a long list.

downloads.py PROGRAM [--size MIB] [--cuts N] [--seed N] [--only cuts,limited,rate,list] [--folder DIR]

cuts     a file of SIZE, cut at N random points by killing the process (SIGKILL), the origin, or the connections
         in turn, with one stream and with 4 segments: byte-identical, and what the process received more than once.
         Bytes that waited in buffers of the system when the process was killed were never received
limited  an origin that sends 8 MB/s on each connection: one stream and 4 segments
rate     an origin without a limit: the queue, the queue with --link, the queue with 4 segments, curl, and aria2c if
         it is installed, in three rounds; each writes to the same file system
list     10,000 downloads: time to open and to list, resident memory while some of them run
"""
import argparse, hashlib, os, random, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time

PIECE = 1 << 16


class Origin:
    """Sends one file, whole or in ranges, and counts the bytes."""

    def __init__(self, path, rate=None, buffer=PIECE):
        self.path, self.rate, self.buffer, self.port = path, rate, buffer, 0
        self.size = os.path.getsize(path)
        self.sent, self.lock, self.connections = 0, threading.Lock(), set()
        self.next_cut = None
        self.reached = threading.Event()
        self.start()

    def start(self):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def cut(self):
        with self.lock:
            connections, self.connections = self.connections, set()
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def unreceived(self):
        """Bytes in the system's buffers, after the client was stopped and the buffers are full."""
        before, now = None, -1
        while before != now:
            time.sleep(0.2)
            before, now = now, 0
            for line in open("/proc/net/tcp").readlines()[1:]:
                _, local, remote, _, queues = line.split()[:5]
                sending, receiving = (int(text, 16) for text in queues.split(":"))
                if int(local.split(":")[1], 16) == self.port:
                    now += sending if int(remote.split(":")[1], 16) else 0
                elif int(remote.split(":")[1], 16) == self.port:
                    now += receiving
        return now

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def serve(self, connection):
        # What waits in buffers of the system has not been received by the client. Without a limit, the system's own
        # size: a small buffer makes origin and client wait for each other after every 128 KiB.
        if self.buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.buffer)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with open(self.path, "rb") as file:
                head = b""
                while True:
                    while b"\r\n\r\n" not in head:
                        more = connection.recv(PIECE)
                        if not more:
                            return
                        head += more
                    text, head = head.split(b"\r\n\r\n", 1)
                    self.answer(connection, file, text.decode("latin-1"))
        except OSError:
            pass
        finally:
            connection.close()
            with self.lock:
                self.connections.discard(connection)

    def answer(self, connection, file, request):
        first, end = 0, self.size
        asked = re.search(r"(?im)^range: bytes=(\d+)-(\d*)", request)
        if asked:
            first = int(asked.group(1))
            end = min(end, int(asked.group(2)) + 1) if asked.group(2) else end
        head = "HTTP/1.1 206 Partial Content\r\n" if asked else "HTTP/1.1 200 OK\r\n"
        if asked:
            head += f"Content-Range: bytes {first}-{end - 1}/{self.size}\r\n"
        head += f'Content-Length: {end - first}\r\nETag: "a"\r\nAccept-Ranges: bytes\r\n'
        connection.sendall((head + "Cache-Control: max-age=3600\r\n\r\n").encode())
        started, at = time.monotonic(), first
        while at < end:
            count = os.sendfile(connection.fileno(), file.fileno(), at, min(PIECE if self.rate else 1 << 20, end - at))
            if count == 0:
                return
            at += count
            with self.lock:
                self.sent += count
                if self.next_cut is not None and self.sent >= self.next_cut:
                    self.next_cut = None
                    self.reached.set()
            if self.rate:
                ahead = (at - first) / self.rate - (time.monotonic() - started)
                if ahead > 0:
                    time.sleep(ahead)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/file"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cuts(program, source, folder, count, segments, chance):
    origin = Origin(source, rate=None)
    target, cache = os.path.join(folder, "cut"), os.path.join(folder, f"cache-{segments}")
    options = ["--queue", "cuts", "--dir", cache, "-q"]
    first = [program, "get", *options, "--segments", str(segments), "--capacity", "8G", "--largest-entry", "100%",
             "--min-free", "0", "--retry", "1000", "-o", target, origin.url]
    again = [program, "downloads", "resume", "--failed", *options]
    process = subprocess.Popen(first)
    done = unreceived = 0
    points = sorted(chance.sample(range(1, 1000), count))
    for number, point in enumerate(points):
        origin.reached.clear()
        with origin.lock:
            origin.next_cut = point * origin.size // 1000
        while not origin.reached.wait(0.2):
            if process.poll() is not None:
                break
        if process.poll() is not None:
            break
        way = ("process", "origin", "connection")[number % 3]
        if way == "process":
            process.send_signal(signal.SIGSTOP)
            unreceived += origin.unreceived()
            process.send_signal(signal.SIGKILL)
            process.wait()
            origin.cut()
        elif way == "origin":
            origin.stop()
            time.sleep(0.3)
        else:
            origin.cut()
        if way == "origin":
            origin.start()
        if way == "process":
            process = subprocess.Popen(again)
        done += 1
    status = process.wait(timeout=600)
    extra = origin.sent - origin.size - unreceived
    same = os.path.exists(target) and digest(target) == digest(source)
    print(f"cuts, {segments} segment(s): {done} cuts, {'identical' if same else 'DIFFERENT'}, status {status}, "
          f"received twice: {extra:,} bytes, {extra // max(1, done):,} per cut, and {unreceived:,} were sent twice and "
          f"not received", flush=True)
    origin.stop()
    os.path.exists(target) and os.unlink(target)
    shutil.rmtree(cache, ignore_errors=True)
    return same and extra <= done << 20


def timed(make, size):
    command, clean = make()
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rate = size / (time.monotonic() - start) / 1e6
    clean()
    return rate


def compare(name, rows, size, rounds):
    """Takes the clients in turn, so that a change of the machine's load concerns all of them."""
    rates = {row: [] for row, _ in rows}
    for _ in range(rounds):
        for row, make in rows:
            rates[row].append(timed(make, size))
    for row, all in rates.items():
        all.sort()
        print(f"{name}: {row}: {all[len(all) // 2]:.1f} MB/s ({all[0]:.1f} to {all[-1]:.1f})", flush=True)


def clients(program, origin, folder):
    target = os.path.join(folder, "out")

    def queue(segments, *options):
        def make():
            cache = tempfile.mkdtemp(dir=folder)
            def clean():
                shutil.rmtree(cache)
                os.unlink(target)
            return ([program, "get", "-q", "--queue", "q", "--dir", cache, "--capacity", "8G", "--largest-entry",
                     "100%", "--min-free", "0", "--segments", str(segments), *options, "-o", target, origin.url], clean)
        return make
    rows = [("queue", queue(1)), ("queue, --link", queue(1, "--link")), ("queue, 4 segments", queue(4)),
            ("curl", lambda: (["curl", "-s", "-o", target, origin.url], lambda: os.unlink(target)))]
    aria = shutil.which("aria2c")
    if aria:
        for number in (1, 4):
            rows.append((f"aria2c -x {number}", lambda number=number: (
                [aria, "-q", "-x", str(number), "-s", str(number), "--file-allocation=none", "-d", folder, "-o",
                 "out", origin.url], lambda: os.unlink(target))))
    return rows


def many(program, source, folder):
    origin = Origin(source, rate=1000)
    cache, listing = os.path.join(folder, "cache-list"), os.path.join(folder, "list")
    with open(listing, "w") as file:
        for number in range(10_000):
            file.write(f"{origin.url}{number}\n  dir={folder}\n  out=f{number}\n")
    process = subprocess.Popen(
        [program, "get", "-q", "--dir", cache, "--queue", "many", "--input-file", listing], stdin=subprocess.DEVNULL)
    time.sleep(15)
    peak = 0
    for line in open(f"/proc/{process.pid}/status"):
        if line.startswith("VmRSS"):
            peak = int(line.split()[1])
    process.send_signal(signal.SIGKILL)
    process.wait()

    def seconds(*words):
        start = time.monotonic()
        subprocess.run([program, "downloads", *words, "--dir", cache], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return time.monotonic() - start
    opened = sorted(seconds("clear", "--queue", "many") - seconds("clear", "--queue", "empty") for _ in range(7))
    listed = sorted(seconds("list", "--queue", "many") - seconds("list", "--queue", "empty") for _ in range(7))
    print(f"list: 10,000 downloads: {peak / 1024:.1f} MiB resident while 6 run; opening {opened[3] * 1000:.0f} ms, "
          f"listing {listed[3] * 1000:.0f} ms more than an empty queue", flush=True)
    origin.stop()
    shutil.rmtree(cache, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--cuts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--only", default="cuts,limited,rate,list")
    parser.add_argument("--folder")
    given = parser.parse_args()
    program, only = os.path.realpath(given.program), given.only.split(",")
    folder = tempfile.mkdtemp(dir=given.folder)
    source = os.path.join(folder, "source")
    with open(source, "wb") as file:
        for _ in range(given.size):
            file.write(os.urandom(1 << 20))
    size, good = given.size << 20, True
    try:
        if "cuts" in only:
            for segments in (1, 4):
                good &= cuts(program, source, folder, given.cuts, segments, random.Random(given.seed))
        for name, rate in (("limited", 8_000_000), ("rate", None)):
            if name not in only:
                continue
            origin = Origin(source, rate, PIECE if rate else None)
            compare(name, clients(program, origin, folder), size, 1 if rate else 3)
            origin.stop()
        if "list" in only:
            many(program, source, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(not good)


main()
