#!/usr/bin/env python3
"""`serve` between an origin that lies and clients that compare: liars.py HTTPCACHE [SECONDS [SEED]]

The origin changes its contents all the time and breaks the protocol in a third of its answers: it cuts and stalls
bodies, sends too many bytes, two lengths, bad chunks, parts that were not asked for, 304 to no condition or of
another version, statuses and fields that cannot be. Every complete answer that a client gets must be one version of
what the URL has for this client, and of the version that its ETag names. `serve` is killed and started again every
ten seconds; `verify` must find nothing wrong that it does not repair.
"""
import http.client, itertools, os, random, re, shutil, subprocess, sys, tempfile, threading, time
from collections import Counter
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tally import check
import servers, tally

binary = sys.argv[1]
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 120
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20261126
work = tempfile.mkdtemp(prefix="liars-")
counts, lock, done = Counter(), threading.Lock(), threading.Event()
versions = Counter()


def count(what):
    with lock:
        counts[what] += 1


def body(path, who, version):
    """One version of what a URL has for a client. All versions of a URL have different lengths and octets."""
    name = f"{path} {who} {version}"
    size = random.Random(path).choice([0, 10, 3000, 20_000, 200_000, 900_000])
    head = f"{name}\n".encode()
    return head + random.Random(name).randbytes(size + version % 17)


def identify(content):
    """The path, the client and the version that octets say they are of."""
    return content.split(b"\n", 1)[0].decode("latin-1").split(" ")


FIELDS = ["Age: 99999999999999999999", "Date: Thu, 01 Jan 2099 00:00:00 GMT", "Date: x", "Expires: -1",
          "Connection: ETag, Cache-Control", "Content-Encoding: unknown", "Age: 1, 2", "X: \x01"]
BROKEN = ["cut", "stall", "more", "two lengths", "both framings", "bad chunk", "cut chunk", "silence", "garbage",
          "odd part", "other total", "part unasked", "304 unasked", "304 of another", "500", "status", "interim",
          "no end", "second answer", "trailer"]


class Origin(servers.Lines):
    def answer(self, lines):
        first = lines.readline(9000).split()
        if len(first) != 3:
            return False
        fields = {}
        while (line := lines.readline(9000)) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            fields[name.lower()] = value.strip()
        path = first[1].decode()
        who = fields.get("x-client", "-") if path[1] in "vp" else "-"
        with lock:
            if self.rnd.random() < 0.1:
                versions[path] += 1
            version = versions[path]
        send, rnd = self.connection.sendall, self.rnd
        content, tag = body(path, who, version), f'"{version}-{who}"'
        kind = {"u": "max-age=%d" % rnd.choice([0, 1, 2, 60]), "v": "max-age=2",
                "p": rnd.choice(["private", "max-age=9,PRIVATE", 'private="x", private, max-age=9', "no-store", "max-age=60",
                                 "max-age=60 , no-store=\"a"])}[path[1]]
        more = f"Cache-Control: {kind}\r\nETag: {tag}\r\n"
        if path[1] == "v":
            more += "Vary: X-Client\r\n"
        if rnd.random() < 0.1:
            more += rnd.choice(FIELDS) + "\r\n"
        lie = rnd.choice(BROKEN) if rnd.random() < 0.33 else "none"
        count(f"origin: {lie}")
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)?", fields.get("range", ""))
        whole = f"HTTP/1.1 200 OK\r\n{more}Content-Length: {len(content)}\r\n\r\n".encode()
        half = rnd.randrange(len(content))
        other = body(path, who, version + 1)
        if lie == "silence":
            return False
        if lie == "garbage":
            send(rnd.randbytes(200))
            return False
        if lie == "500":
            send(f"HTTP/1.1 {rnd.choice([500, 503, 404])} No\r\nContent-Length: 2\r\n\r\nno".encode())
            return True
        if lie == "status":
            send(f"HTTP/1.1 {rnd.choice(['99', '1000', '600', 'abc', '2 0', '-200'])} No\r\nContent-Length: 0\r\n\r\n".encode())
            return False
        if lie == "interim":
            send(b"HTTP/1.1 103 Early\r\nLink: <a>\r\nContent-Length: 5\r\n\r\n" * rnd.choice([1, 3]))
        if lie == "cut":
            send(whole + content[:half])
            return False
        if lie == "stall":
            send(whole + content[:half])
            time.sleep(rnd.choice([0.05, 0.3]))
            send(content[half:])
            return True
        if lie == "more":
            send(whole + content + other[:rnd.choice([1, 100, 5000])])
            return rnd.random() < 0.5
        if lie == "second answer":
            evil = body("/evil", who, 0)
            send(whole + content + b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n" % len(evil) + evil)
            return True
        if lie == "two lengths" and half < len(content):
            send(f"HTTP/1.1 200 OK\r\n{more}Content-Length: {half}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
            return False
        if lie == "both framings":
            send(f"HTTP/1.1 200 OK\r\n{more}Content-Length: {half}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            send(b"%x\r\n" % len(content) + content + b"\r\n0\r\n\r\n")
            return False
        if lie in ("bad chunk", "cut chunk", "trailer"):
            send(f"HTTP/1.1 200 OK\r\n{more}Transfer-Encoding: chunked\r\n\r\n".encode())
            send(b"%x\r\n" % half + content[:half] + b"\r\n" if half else b"")
            if lie == "bad chunk":
                send(rnd.choice([b"fffffffffffffffff", b"-5", b"zz", b"5 5", b""]) + b"\r\n" + content[half:])
                return False
            if lie == "cut chunk":
                send(b"%x\r\n" % (len(content) - half) + content[half:-1])
                return False
            send(b"%x;x=y\r\n" % (len(content) - half) + content[half:] + b"\r\n0\r\nContent-Length: 1\r\nETag: \"x\"\r\n"
                 b"Cache-Control: max-age=9999\r\n\r\n")
            return True
        if lie == "no end":
            send(f"HTTP/1.1 200 OK\r\n{more}\r\n".encode() + content)
            return False
        if lie in ("304 unasked", "304 of another"):
            if lie == "304 unasked" and "if-none-match" in fields:
                lie = "304 of another"
            send(f"HTTP/1.1 304 Not Modified\r\n{more.replace(tag, tag if lie == '304 unasked' else chr(34) + 'other' + chr(34))}\r\n".encode())
            return True
        if lie == "part unasked" and not wanted:
            send(f"HTTP/1.1 206 Partial\r\n{more}Content-Range: bytes 0-{half}/{len(content)}\r\nContent-Length: {half + 1}\r\n\r\n".encode()
                 + content[:half + 1])
            return True
        if wanted and fields.get("if-range", tag) == tag and int(wanted[1]) < len(content):
            begin, end = int(wanted[1]), min(int(wanted[2] or len(content)), len(content) - 1)
            total, tell = len(content), begin
            if lie == "odd part":
                tell = rnd.choice([begin + 1, max(0, begin - 1), end])
            if lie == "other total":
                total += rnd.choice([-1, 1, 1000])
            part = content[begin:end + 1]
            send(f"HTTP/1.1 206 Partial\r\n{more}Content-Range: bytes {tell}-{end}/{total}\r\nContent-Length: {len(part)}\r\n\r\n".encode()
                 + part)
            return True
        if tag in fields.get("if-none-match", ""):
            send(f"HTTP/1.1 304 Not Modified\r\n{more}\r\n".encode())
            return True
        send(whole + content)
        return True


def start(port, origin):
    return subprocess.Popen(
        [binary, "serve", "--listen", f"127.0.0.1:{port}", "--shared", "--upstream", f"http://127.0.0.1:{origin}",
         "--dir", f"{work}/cache", "--disk", "30M", "--memory", "4M", "--access-log", "none", "--timeout", "5"],
        stdout=subprocess.DEVNULL, stderr=open(f"{work}/log", "a"))


def compare(path, who, asked, status, fields, content):
    """What is wrong with a complete answer; nil if nothing is."""
    tag = fields.get("ETag")
    if status == 200:
        found = identify(content)
        if len(found) != 3 or found[0] != path or found[1] != who:
            return f"of another: {found}"
        if content != body(path, who, int(found[2])):
            return "is no version"
        if tag and tag != f'"{found[2]}-{who}"':
            return f"version {found[2]} with ETag {tag}"
    elif status == 206:
        range_ = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", fields.get("Content-Range", ""))
        version = re.fullmatch(r'"(\d+)-(.*)"', tag or "")
        if not range_:
            return "206 without a range"
        if not version:
            return None
        if version[2] != who:
            return f"of another: {tag}"
        begin, end, total = int(range_[1]), int(range_[2]), range_[3]
        # An origin that lies about a part is believed where the cache has nothing to compare it with.
        if fields.get("Cache-Status", "").find("hit") >= 0:
            expected = body(path, who, int(version[1]))
            if content != expected[begin:end + 1] or total not in ("*", str(len(expected))):
                return f"wrong part {range_[0]}"
    elif status == 304 and not asked.get("If-None-Match") and "fwd-status=304" not in fields.get("Cache-Status", ""):
        return "304 to no condition"
    return None


class Answer(http.client.HTTPResponse):
    """Python takes 103 for the answer; interim responses come before it (RFC 9110 §15.2)."""

    def _read_status(self):
        while True:
            version, status, reason = super()._read_status()
            if status >= 200:
                return version, status, reason
            http.client.parse_headers(self.fp)


def client(rnd, port):
    connection = None
    while not done.is_set():
        kind = rnd.choice("uuuuvvp")
        path, who = f"/{kind}{rnd.randrange(12)}", "-" if kind == "u" else str(rnd.randrange(4))
        asked = {"Host": "liars.test", "X-Client": who}
        if kind == "p":
            asked["Authorization"] = f"Basic {who}"
        if rnd.random() < 0.15:
            asked["Range"] = rnd.choice(["bytes=0-99", "bytes=10-2000", "bytes=5000-", "bytes=100-150000"])
        if rnd.random() < 0.1:
            asked["If-None-Match"] = f'"{versions[path]}-{who}"'
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.response_class = Answer
            connection.request("GET", path, headers=asked)
            answer = connection.getresponse()
            if rnd.random() < 0.03:
                answer.read(10)
                raise OSError("the client leaves")
            content = answer.read()
            fields = {name.title() if name.lower() != "etag" else "ETag": value for name, value in answer.getheaders()}
            wrong = compare(path, who, asked, answer.status, fields, content)
            count(f"answer {answer.status}" + (" hit" if "; hit" in fields.get("Cache-Status", "") else ""))
            if wrong:
                count("WRONG")
                print(f"FAIL {path} for {who} {asked.get('Range', '')}: {answer.status} {wrong}; {fields}", flush=True)
        except (OSError, http.client.HTTPException, ValueError) as error:
            count(f"failed: {type(error).__name__}")
            if isinstance(error, TimeoutError):
                print(f"FAIL {path}: no end in 20 s", flush=True)
            if connection:
                connection.close()
            connection = None
            time.sleep(0.01)


rnd = random.Random(seed)
numbers = random.Random(rnd.random())
origin = servers.listen(Origin, (random.Random(numbers.random()) for _ in itertools.count()))
port = servers.free_port()
process = start(port, origin)
clients = [threading.Thread(target=client, args=(random.Random(rnd.random()), port), daemon=True) for _ in range(12)]
for thread in clients:
    thread.start()
end, kills = time.time() + seconds, 0
while time.time() < end:
    time.sleep(min(10, max(0.1, end - time.time())))
    if not check("serve still runs", process.poll() is None, process.poll()):
        break
    if time.time() < end:
        process.kill()
        process.wait()
        kills += 1
        if kills % 3 == 0:
            found = subprocess.run([binary, "verify", "--repair", "--dir", f"{work}/cache"], capture_output=True, text=True)
            again = subprocess.run([binary, "verify", "--dir", f"{work}/cache"], capture_output=True, text=True)
            check("verify finds nothing after a repair", again.returncode == 0, found.stdout + again.stdout + again.stderr)
        process = start(port, origin)
done.set()
for thread in clients:
    thread.join(25)
check("each client got an end", not any(thread.is_alive() for thread in clients))
time.sleep(1)
files = os.listdir(f"/proc/{process.pid}/fd")
check("few files stay open", len(files) < 150, len(files))
process.terminate()
check("ends on SIGTERM", process.wait(30) == 0, process.returncode)
check("no wrong answer", counts["WRONG"] == 0)
check("no answer without an end", counts["failed: TimeoutError"] == 0)
check("answers from the cache", counts["answer 200 hit"] > 100)
for name in sorted(counts):
    print(f"{counts[name]:8} {name}")
print(f"{kills} kills, seed {seed}")
log = open(f"{work}/log").read()
check("no crash in the log", "Fatal error" not in log and "Crash" not in log, log[-500:])
shutil.rmtree(work)
print(f"{tally.passed} passed, {tally.failed} failed")
sys.exit(1 if tally.failed else 0)
