#!/usr/bin/env python3
"""`serve` before an honest origin over lines that break, compared with a model:
model.py HTTPCACHE [SECONDS [SEED [PROCESSES [forward]]]]

The origin says the truth about every version of its resources. It cuts and delays bodies, refuses connections and
answers 503 by turns; clients leave in the middle of bodies, change resources with POST, and purge; a process is killed
or ended every fifteen seconds. The model knows when each version was current. Each complete answer must be what RFC 9110 and
9111 allow: one version, not older than its lifetime allows, after a POST or a purge not an earlier one, and for a
range the octets of just that range. Several processes share the directory, and clients ask each of them in turn.
"""
import email, http.client, itertools, os, random, re, shutil, socket, subprocess, sys, tempfile, threading, time
from collections import Counter, defaultdict
from email.utils import formatdate, parsedate_to_datetime
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tally import check
import servers, tally
try:
    import streams
except ImportError:
    print("skipped: clients over HTTP/2, which need Python's h2")
    streams = None

binary = sys.argv[1]
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 120
rnd = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 20261126)
PROCESSES = int(sys.argv[4]) if len(sys.argv) > 4 else 1
FORWARD = len(sys.argv) > 5
work = tempfile.mkdtemp(prefix="model-")
lock, done, counts = threading.RLock(), threading.Event(), Counter()
TOKEN = "0123456789abcdef"

# What a kind of URL says about reuse, and how many seconds after its end a version may still be used.
KINDS = {
    "m": ("max-age=3, must-revalidate", 3), "n": ("no-cache", 0), "x": ("no-store", 0),
    "s": ("max-age=1, stale-while-revalidate=3", 4), "e": ("max-age=1, stale-if-error=4", 5),
    "l": ("max-age=2, must-revalidate", 2), "v": ("max-age=2, must-revalidate", 2), "o": ("max-age=60", 60),
    # Only parts of it are requested, and it comes slowly.
    "r": ("max-age=9", 9),
}
KINDS_DRAWN = [*KINDS, "r", "r", "r"]
# Dates have whole seconds, and clocks are read at different moments.
SLACK = 1.5
# An origin has 5 s for a head.
PATIENCE = 10


class Resource:
    """The versions of a URL, and when each began; a version ends when the next one begins."""

    def __init__(self, path):
        self.path, self.kind = path, path[1]
        self.size = random.Random(path).choice([0, 30, 5000, 70_000, 400_000, 3_000_000] if path[1] != "r" else [300_000, 900_000])
        self.begins = [time.time()]
        # No version that ended earlier than `least` may be the answer to a request that began after `since`.
        self.changes = [(0.0, 0)]

    def current(self):
        with lock:
            return len(self.begins) - 1

    def change(self):
        with lock:
            # A date must tell the versions apart.
            if self.kind != "l" or time.time() - self.begins[-1] > 2.5:
                self.begins.append(time.time())
            return self.current()

    def body(self, version, language):
        name = f"{self.path} {language} {version}"
        return name.encode() + b"\n" + random.Random(name).randbytes(self.size + version % 13)

    def fields(self, version, language):
        cache_control = KINDS[self.kind][0]
        fields = {"Cache-Control": cache_control, "X-Version": str(version)}
        if self.path[2] in "01":
            # RFC 9875
            fields["Cache-Groups"] = '"pair"'
        if self.kind != "l":
            fields["ETag"] = f'"{version}-{language}"'
        if self.kind in "lm":
            fields["Last-Modified"] = formatdate(self.begins[version], usegmt=True)
        if self.kind == "v":
            fields["Vary"] = "X-Language"
        return fields

    def is_allowed(self, version, began, ended, isDisconnected):
        """Whether a version may answer a request from `began` to `ended`."""
        with lock:
            if version >= len(self.begins) or self.begins[version] > ended + SLACK:
                return "a version that is not there yet"
            least = max(least for since, least in self.changes if since < began)
            if version < least:
                return f"version {version} although {least} was there after a change or purge"
            over = self.begins[version + 1] if version + 1 < len(self.begins) else None
        mayBeStale = isDisconnected and self.kind in "seor"
        if over and not mayBeStale and over + KINDS[self.kind][1] + SLACK < began:
            return f"version {version}, over for {began - over:.1f} s"
        return None


resources = {f"/{kind}{number}": None for kind in KINDS for number in range(6)}
resources = {path: Resource(path) for path in resources}
fault = {"now": "none"}


def count(what):
    with lock:
        counts[what] += 1


def ranges(field, length):
    """The ranges that a field asks for, as pairs of the first and the last octet; None if it does not apply."""
    found = []
    for spec in field.removeprefix("bytes=").split(","):
        first, last = spec.strip().split("-")
        if first == "":
            found.append((max(0, length - int(last)), length - 1) if int(last) else None)
        else:
            found.append((int(first), min(int(last or length), length - 1)) if int(first) < length else None)
    return [pair for pair in found if pair]


class Origin(servers.Lines):
    def answer(self, lines):
        first = lines.readline(9000).split()
        if len(first) != 3 or fault["now"] == "refuses":
            return False
        asked = {}
        while (line := lines.readline(9000)) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            asked[name.lower()] = value.strip()
        if length := int(asked.get("content-length", 0)):
            lines.read(length)
        method, resource = first[0].decode(), resources[first[1].decode()]
        if fault["now"] == "503" and self.rnd.random() < 0.7:
            return self.send(resource, 503, {"Cache-Control": "no-store"}, b"no\n", method)
        if method == "POST":
            fields, changed = {}, [resource]
            draw = self.rnd.random()
            if draw < 0.3:
                other = resources[resource.path[:2] + str(self.rnd.randrange(6))]
                changed.append(other)
                fields[self.rnd.choice(["Location", "Content-Location"])] = other.path
            elif draw < 0.5:
                # All resources of the origin with the group.
                fields["Cache-Group-Invalidation"] = '"pair"'
                changed += [one for one in resources.values() if one.path[2] in "01"]
            fields["X-Versions"] = " ".join(f"{one.path}={one.change()}" for one in changed)
            return self.send(resource, 200, fields, b"changed\n", method)
        language = asked.get("x-language", "a") if resource.kind == "v" else "a"
        if self.rnd.random() < 0.15:
            resource.change()
        with lock:
            version = resource.current()
        fields, content = resource.fields(version, language), resource.body(version, language)
        tags = asked.get("if-none-match")
        if tags and fields.get("ETag", "-") in tags or not tags and fields.get("Last-Modified") == asked.get("if-modified-since", "-"):
            return self.send(resource, 304, fields, b"", method)
        condition = asked.get("if-range")
        if method == "GET" and "range" in asked and (not condition or condition in (fields.get("ETag"), fields.get("Last-Modified"))):
            found = ranges(asked["range"], len(content))
            if not found:
                return self.send(resource, 416, {"Content-Range": f"bytes */{len(content)}"}, b"", method)
            if len(found) == 1:
                begin, end = found[0]
                fields["Content-Range"] = f"bytes {begin}-{end}/{len(content)}"
                return self.send(resource, 206, fields, content[begin:end + 1], method)
        return self.send(resource, 200, fields, content, method)

    def send(self, resource, status, fields, content, method):
        fields["Date"] = formatdate(usegmt=True)
        isChunked = status == 200 and self.rnd.random() < 0.2
        if status != 304:
            fields |= {"Transfer-Encoding": "chunked"} if isChunked else {"Content-Length": str(len(content))}
        head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
        count(f"origin {status}")
        if self.rnd.random() < 0.1:
            time.sleep(self.rnd.choice([0.02, 0.2, 0.5]))
        self.connection.sendall(head.encode())
        if method == "HEAD" or status == 304:
            return True
        cut = self.rnd.randrange(len(content) + 1) if content and self.rnd.random() < 0.12 else None
        isSlow = self.rnd.random() < (0.8 if resource.kind == "r" else 0.2)
        for at in range(0, len(content), 20_000):
            piece = content[at:min(at + 20_000, len(content) if cut is None else cut)]
            if piece:
                self.connection.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n" if isChunked else piece)
            if cut is not None and at + 20_000 >= cut:
                count("origin cuts")
                return False
            if isSlow:
                time.sleep(0.004)
        if isChunked:
            self.connection.sendall(b"0\r\n\r\n")
        return True


def start(port, origin):
    return subprocess.Popen(
        [binary, "serve", "--listen", f"127.0.0.1:{port}", "--shared", *(["--forward", "--http-port", str(origin)] if FORWARD else ["--upstream", f"http://127.0.0.1:{origin}"]),
         "--dir", f"{work}/cache", "--disk", rnd.choice(["8M", "60M"]), *encryption, "--memory", rnd.choice(["0", "2M", "30M"]), "--access-log", "none",
         "--timeout", "5", "--h2c", "--purge-token-file", f"{work}/token"],
        stdout=subprocess.DEVNULL, stderr=open(f"{work}/log", "a"))


def compare(resource, method, asked, status, fields, content, began, ended):
    """What is wrong with a complete answer; None if nothing is."""
    how = fields.get("cache-status", "")
    if status in (502, 503, 504):
        return None
    if status == 416:
        found = re.fullmatch(r"bytes \*/(\d+)", fields.get("content-range", ""))
        return None if found and not ranges(asked["Range"], int(found[1])) else f"416 {fields.get('content-range')}"
    language = asked["X-Language"] if resource.kind == "v" else "a"
    if status == 304 and "etag" in fields:
        version = int(fields["etag"].strip('"').split("-")[0])
    elif status == 304:
        version = next(index for index in range(resource.current(), -1, -1)
                       if resource.fields(index, language)["Last-Modified"] == fields.get("last-modified"))
    else:
        version = int(fields["x-version"])
    if (fault_ := resource.is_allowed(version, began, ended, "disconnected" in how)):
        return fault_
    right, expected = resource.fields(version, language), resource.body(version, language)
    # RFC 9110 §15.4.5, §15.3.7: what a client has already may be left out.
    if "ETag" in right and (status == 304 or "If-Range" in asked) and "last-modified" not in fields:
        right.pop("Last-Modified", None)
    for name in ("ETag", "Last-Modified", "Cache-Control"):
        if fields.get(name.lower()) != right.get(name):
            return f"{name} of another version: {fields.get(name.lower())}, not {right.get(name)}"
    if status == 304:
        since = asked.get("If-Modified-Since")
        isSame = right.get("ETag", "-") == asked.get("If-None-Match") or since and (
            parsedate_to_datetime(right["Last-Modified"]) <= parsedate_to_datetime(since))
        return None if isSame else "304 of another version"
    if method == "HEAD":
        length = fields.get("content-length")
        return None if length in (None, str(len(expected))) else f"Content-Length {length}, not {len(expected)}"
    if status == 200:
        return None if content == expected else f"{len(content)} octets, not {len(expected)}, or others"
    if status != 206 or "Range" not in asked:
        return "status"
    if "If-Range" in asked and asked["If-Range"] != right.get("ETag"):
        return "a part although If-Range names another version"
    wanted = ranges(asked["Range"], len(expected))
    if "multipart/byteranges" in fields.get("content-type", ""):
        parts = email.message_from_bytes(b"Content-Type: " + fields["content-type"].encode() + b"\r\n\r\n" + content).get_payload()
        return None if len(parts) == len(wanted) else f"{len(parts)} parts, not {len(wanted)}"
    if len(wanted) != 1:
        return f"one part, not {len(wanted)}"
    begin, end = wanted[0]
    # A body in chunks that broke off has no known length.
    if fields.get("content-range") not in [f"bytes {begin}-{end}/{length}" for length in (len(expected), "*")]:
        return f"Content-Range {fields.get('content-range')}, not {begin}-{end}/{len(expected)}"
    return None if content == expected[begin:end + 1] else "other octets"


def request(rnd, resource):
    """A method and fields."""
    draw, size = rnd.random(), resource.size
    asked = {"Host": AUTHORITY, "X-Language": rnd.choice("ab")}
    if draw < 0.02:
        return "POST", asked
    if draw < 0.03:
        return "PURGE", asked | {"Authorization": f"Bearer {TOKEN}"} | rnd.choice([{}, {"Soft-Purge": "1"}])
    if draw < 0.033:
        return "BAN", asked | {"Authorization": f"Bearer {TOKEN}"}
    if draw < 0.1:
        return "HEAD", asked
    near = max(0, resource.current() - rnd.choice([0, 0, 0, 1]))
    if rnd.random() < 0.1:
        right = resource.fields(near, asked["X-Language"] if resource.kind == "v" else "a")
        name = "ETag" if "ETag" in right else "Last-Modified"
        asked["If-None-Match" if name == "ETag" else "If-Modified-Since"] = right[name]
    if rnd.random() < (1 if resource.kind == "r" else 0.35):
        begin = rnd.choice([0, 0, 10, size // 2, size, size + 100])
        asked["Range"] = "bytes=" + rnd.choice([
            f"{begin}-", f"{begin}-", f"{begin}-{begin + rnd.choice([0, 99, 5000, 300_000, 9_000_000])}", f"-{size // 3 + 1}",
            "0-", f"0-{size // 2}", f"0-9,{size // 2}-{size // 2 + 9}"])
        if rnd.random() < 0.2 and resource.kind not in "l":
            language = asked["X-Language"] if resource.kind == "v" else "a"
            asked["If-Range"] = f'"{near}-{language}"'
    if rnd.random() < 0.03:
        asked["Cache-Control"] = rnd.choice(["no-cache", "max-age=0", "max-stale=2", "min-fresh=1", "no-store"])
    return "GET", asked


def judge(resource, method, asked, status, fields, content, began, ended, least):
    """Counts a complete answer, and reports what is wrong with it."""
    if method in ("POST", "PURGE", "BAN"):
        if status < 400:
            # A purge removes what the origin had before; a POST tells which version there is after it.
            if method == "POST":
                least = dict(one.split("=") for one in fields["x-versions"].split())
                least = {path: int(version) for path, version in least.items()}
            with lock:
                for path in [resource.path] if method == "PURGE" else least:
                    changes = resources[path].changes
                    changes.append((time.time(), max(least[path], max(one[1] for one in changes))))
        return count(f"{method} {status}")
    wrong = compare(resource, method, asked, status, fields, content, began, ended)
    if "max-stale" in asked.get("Cache-Control", "") and wrong and "over for" in wrong:
        wrong = None
    count(f"{method} {status}" + (" hit" if "; hit" in fields.get("cache-status", "") else ""))
    if wrong:
        count("WRONG")
        print(f"FAIL {method} {resource.path} {resource.size} {asked}: {status} {wrong}; {fields}", flush=True)


def patience(rnd, resource):
    """After how many octets a client leaves; None if it does not."""
    return rnd.choice([0, 1, 1000, 100_000]) if rnd.random() < (0.3 if resource.kind == "r" else 0.1) else None


def draw(rnd):
    """A request, and the versions of all resources with its prefix, before it is sent."""
    resource = resources[f"/{rnd.choice(KINDS_DRAWN)}{rnd.randrange(6)}"]
    method, asked = request(rnd, resource)
    return resource, method, asked, {path: one.current() for path, one in resources.items() if one.kind == resource.kind}


def check_time(began, what):
    if time.time() - began > PATIENCE:
        count("SLOW")
        print(f"FAIL {what}: no end in {time.time() - began:.1f} s", flush=True)


def client(seed):
    rnd, connections = random.Random(seed), {}
    while not done.is_set():
        resource, method, asked, least = draw(rnd)
        port = rnd.choice(ports)
        began, path = time.time(), resource.path[:2] if method == "BAN" else resource.path
        try:
            if port not in connections:
                connections[port] = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection = connections[port]
            connection.request(method, f"http://{AUTHORITY}{path}" if FORWARD else path, headers=asked)
            answer = connection.getresponse()
            ended, most = time.time(), patience(rnd, resource)
            if method == "GET" and most is not None:
                answer.read(most)
                raise OSError("the client leaves")
            content = answer.read()
            fields = {name.lower(): value for name, value in answer.getheaders()}
            judge(resource, method, asked, answer.status, fields, content, began, ended, least)
        except (OSError, http.client.HTTPException, ValueError) as error:
            count(f"failed: {type(error).__name__}")
            connections.pop(port).close()
            time.sleep(0.01)
        check_time(began, f"{method} {resource.path} {asked}")


def client_with_streams(seed):
    """Requests over HTTP/2, up to eight at a time."""
    rnd, connections = random.Random(seed), {}
    while not done.is_set():
        drawn = [draw(rnd) for _ in range(rnd.randrange(1, 9))]
        began, port = time.time(), rnd.choice(ports)
        try:
            if port not in connections:
                connections[port] = streams.Connection(port)
            answers = connections[port].exchange(
                [(method, resource.path[:2] if method == "BAN" else resource.path, asked, patience(rnd, resource))
                 for resource, method, asked, _ in drawn])
        except OSError as error:
            count(f"failed: {type(error).__name__}")
            connections.pop(port, None)
            time.sleep(0.01)
            continue
        for (resource, method, asked, least), answer in zip(drawn, answers):
            if answer.failure:
                count(f"HTTP/2 failed: {answer.failure}")
                if answer.failure not in ("left", "StreamReset"):
                    connections.pop(port, None)
            else:
                count("HTTP/2")
                judge(resource, method, asked, answer.status, answer.fields, bytes(answer.content), began, answer.ended, least)
        check_time(began, f"{[one[:3] for one in drawn]} over HTTP/2")


with open(f"{work}/token", "w") as file:
    file.write(TOKEN + "\n")
os.chmod(f"{work}/token", 0o600)
origin = servers.listen(Origin, map(random.Random, itertools.count(1)))
AUTHORITY = f"127.0.0.1:{origin}" if FORWARD else "model.test"
free = [socket.create_server(("127.0.0.1", 0)) for _ in range(PROCESSES)]
ports = [one.getsockname()[1] for one in free]
for one in free:
    one.close()
encryption = []
if rnd.random() < 0.3:
    with open(f"{work}/key", "w") as file:
        file.write(rnd.randbytes(32).hex() + "\n")
    os.chmod(f"{work}/key", 0o600)
    encryption = ["--encryption-key-file", f"{work}/key"]
print(f"{PROCESSES} processes, " + ("encrypted" if encryption else "in the clear") + (", forward" if FORWARD else ""))
processes = [start(port, origin) for port in ports]
clients = [threading.Thread(target=client_with_streams if streams and number % 3 == 0 else client,
                            args=(rnd.random(),), daemon=True) for number in range(12)]
for thread in clients:
    thread.start()
end, turns = time.time() + seconds, 0
while time.time() < end:
    for fault["now"] in ("none", "none", "refuses", "none", "503"):
        time.sleep(3)
    turns += 1
    if not check("serve still runs", all(one.poll() is None for one in processes), [one.poll() for one in processes]):
        break
    turn = rnd.randrange(PROCESSES)
    process = processes[turn]
    if rnd.random() < 0.5:
        process.kill()
        process.wait()
    else:
        process.terminate()
        check("ends on SIGTERM under load", process.wait(30) == 0, process.returncode)
    if turns % 3 == 0:
        subprocess.run([binary, "verify", "--repair", "--dir", f"{work}/cache", *encryption], capture_output=True)
        if PROCESSES == 1:
            again = subprocess.run([binary, "verify", "--dir", f"{work}/cache", *encryption], capture_output=True, text=True)
            check("verify finds nothing after a repair", again.returncode == 0, again.stdout + again.stderr)
    processes[turn] = start(ports[turn], origin)
fault["now"] = "none"
time.sleep(2)
done.set()
for thread in clients:
    thread.join(25)
check("each client got an end", not any(thread.is_alive() for thread in clients))
for process in processes:
    process.terminate()
    check("ends on SIGTERM", process.wait(30) == 0, process.returncode)
check("no wrong answer", counts["WRONG"] == 0, counts["WRONG"])
check("no answer that takes long", counts["SLOW"] == 0)
for what in ("GET 200 hit", "GET 206 hit", "GET 304 hit", "HEAD 200 hit", "POST 200", "PURGE 200", "BAN 200", "origin cuts"):
    check(f"there is: {what}", counts[what] > 10, counts[what])
for name in sorted(counts):
    print(f"{counts[name]:8} {name}")
print(f"{turns} starts")
log = open(f"{work}/log").read()
check("no crash in the log", "Fatal error" not in log and "Crash" not in log, log[-500:])
shutil.rmtree(work)
print(f"{tally.passed} passed, {tally.failed} failed")
sys.exit(1 if tally.failed else 0)
