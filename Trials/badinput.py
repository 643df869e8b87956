#!/usr/bin/env python3
"""Everything that may lie where a cache keeps its files, or be done to them while a server runs.

    badinput.py HTTPCACHE [PART…]

Parts: rest (done while nothing runs), running (done under a server), bodies (all of
them, and other indexes, both ways), rows (numbers in the index that cannot
be), pages (an index cut at each page), places (where a directory may not be), limits (of the process and the
file system), processes (one deletes while another serves). All of them unless some are named.

Of each: no process ends by a signal or hangs, no answer has a wrong body, each answer comes; afterwards the
cache stores again, and `verify` is clean after `verify --repair`. What has to be told is told on standard
error. Needs root for a full file system and for another user; what cannot be had is skipped by name.
"""
import hashlib, http.client, os, re, shutil, signal, socket, sqlite3, stat, subprocess, sys, tempfile
import threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import origin as O
import servers
import tally
from tally import check

binary = os.path.realpath(sys.argv[1])
chosen = sys.argv[2:]
os.environ["SWIFT_BACKTRACE"] = "enable=no"
server = servers.started(O.Handler)
upstream = f"http://127.0.0.1:{server.server_address[1]}"
work = tempfile.mkdtemp(prefix="badinput-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
os.chmod(work, 0o755)
answers = turn = 0
tally.names[work] = "WORK"
OLD = [0, 900, 16_384, 16_385, 20_000, 262_145, 900_000]
NEW = [700, 30_000, 300_000]
# The signal to a process whose mapped file another process has shortened.
CUT_MEMORY = -signal.SIGBUS


def skip(name, why):
    print(f"     {name}: skipped, {why}", flush=True)


def path(size, tag):
    return f"/size/{size}/{tag}"


def right(where, body):
    return hashlib.sha256(body).hexdigest() == O.digest(where)


class Serve:
    """A server over a directory."""

    def __init__(self, directory, *options, prefix=(), cwd=None):
        self.process = subprocess.Popen(
            [*prefix, binary, "serve", "--listen", "127.0.0.1:0", "--shared", "--upstream", upstream, "--dir",
             directory, "--allow-no-cache", "--memory", "1M", *([] if "--disk" in options else ["--disk", "200M"]),
             "--min-free", "0", "--access-log", "none", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", cwd=cwd)
        self.lines = []
        self.port = None
        ready = threading.Event()

        def read():
            for line in self.process.stderr:
                found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line)
                if found:
                    self.port = int(found.group(1))
                    ready.set()
                elif "shutting down" not in line:
                    self.lines.append(line.rstrip())
            ready.set()
        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        ready.wait(30)

    def get(self, where):
        global answers
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            # The client's Host is a part of the key, and each process listens on another port.
            connection.request("GET", where, headers={"Host": "badinput.test"})
            response = connection.getresponse()
            body = response.read()
            answers += 1
            return response.status, body, response.getheader("Cache-Status", "")
        finally:
            connection.close()

    def answers(self, name, places, mayBreakOff=False):
        """Whether all come, with the right bytes."""
        for where in places:
            try:
                status, body, _ = self.get(where)
            except (OSError, http.client.HTTPException) as error:
                # A body that turns out damaged when its head is out can only be cut off.
                if mayBreakOff and self.process.poll() is None:
                    continue
                check(f"{name}: {where} is answered", False, f"{error!r} {self.ending()}")
                return False
            if not check(f"{name}: {where} is right", status == 200 and right(where, body),
                         f"{status} {len(body)} bytes"):
                return False
        return True

    def stores(self, name, tag):
        """Whether what is asked for twice comes from the store, some time."""
        for turn in range(100):
            where = path(20_000, f"{tag}-{turn}")
            try:
                self.get(where)
                if "; hit" in self.get(where)[2]:
                    return check(f"{name}: stores again", True)
            except (OSError, http.client.HTTPException) as error:
                return check(f"{name}: stores again", False, f"{error!r} {self.ending()}")
            time.sleep(0.1)
        return check(f"{name}: stores again", False, self.lines[-3:])

    def ending(self):
        time.sleep(0.1)
        return f"process: {self.process.poll()}, {self.lines[-2:]}"

    def stop(self, name, allowed=(0,)):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return check(f"{name}: ends when told to", False)
        self.reader.join(5)
        return check(f"{name}: ends in order", code in allowed, f"{code} {self.lines[-2:]}")


def run(*arguments, prefix=(), cwd=None, timeout=60, out=subprocess.PIPE):
    try:
        done = subprocess.run([*prefix, binary, *arguments], stdout=out, stderr=subprocess.PIPE, timeout=timeout,
                              stdin=subprocess.DEVNULL, cwd=cwd)
    except subprocess.TimeoutExpired:
        return "hangs", b"", ""
    return done.returncode, done.stdout or b"", done.stderr.decode(errors="replace")


def commands(name, directory):
    """What looks at a directory, each on a copy: no signal, no hang; `get` has the right bytes. Three at a time,
    by turns, and `get`."""
    global turn
    url = upstream + path(20_000, "old")
    all = (["ls", "--json"], ["ls", "--sort", "size"], ["ls", "--unused-for", "1", "--stale"],
                      ["show", url, "--shared"], ["path", url, "--shared"], ["explain", url, "--shared"], ["stats"],
                      ["stats", "--json"], ["verify"], ["purge", url, "--shared"],
                      ["purge", "--soft", "--prefix", upstream], ["purge", "--older-than", "1d"], ["purge", "--all"])
    turn += 3
    for arguments in [all[(turn + n) % len(all)] for n in range(3)] + [["get", "--shared", url]]:
        copy = os.path.join(work, "copy")
        clone(directory, copy)
        code, out, err = run(*arguments, "--dir", copy)
        check(f"{name}: {' '.join(arguments).replace(upstream, '')}", isinstance(code, int) and 0 <= code < 126,
              f"{code} {err[-300:]}")
        if arguments[0] == "get":
            # A body that turns out damaged when its head is out ends the request; the next one is a miss.
            isCutOff = code == 10 and not out and "damaged" in err
            check(f"{name}: get has the right bytes", isCutOff or code == 0 and right(path(20_000, "old"), out),
                  f"{code} {len(out)} bytes {err[-300:]}")
        if code not in (0, 1):
            check(f"{name}: {arguments[0]} says why", bool(err.strip()), code)


def remove(place):
    if os.path.islink(place) or not os.path.isdir(place):
        try:
            os.unlink(place)
        except FileNotFoundError:
            pass
    else:
        shutil.rmtree(place)


def clone(source, target):
    remove(target)
    # Pipes and sockets are made anew, links kept; shutil would read the former.
    subprocess.run(["cp", "-a", source, target], check=True)


def write(place, content, mode="wb"):
    with open(place, mode) as file:
        file.write(content)


def noise(count):
    return hashlib.shake_256(b"noise").digest(count)


def bodies(directory):
    return sorted(os.path.join(d, f) for d, _, fs in os.walk(os.path.join(directory, "bodies")) for f in fs)


def fill(directory, *options):
    serve = Serve(directory, *options)
    serve.answers("filling", [path(size, "old") for size in OLD] * 2)
    serve.stop("filling")


# Objects that may replace a file or folder; each gets its path.

def gone(place): remove(place)


def empty(place):
    remove(place)
    write(place, b"")


def garbage(place):
    length = os.path.getsize(place) if os.path.isfile(place) else 5_000
    remove(place)
    write(place, noise(length))


def zeros(place):
    length = os.path.getsize(place) if os.path.isfile(place) else 5_000
    remove(place)
    write(place, bytes(length))


def folder(place):
    remove(place)
    os.mkdir(place)


def fullFolder(place):
    remove(place)
    os.makedirs(place + "/below")
    write(place + "/below/file", b"mine")


def pipe(place):
    remove(place)
    os.mkfifo(place)


def listener(place):
    remove(place)
    here = os.getcwd()
    os.chdir(os.path.dirname(place))
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(os.path.basename(place))
    os.chdir(here)


def linkToFile(place):
    remove(place)
    os.symlink(os.path.join(work, "secret"), place)


def linkToNowhere(place):
    remove(place)
    os.symlink(os.path.join(work, "nowhere", "x"), place)


def linkToItself(place):
    remove(place)
    os.symlink(os.path.basename(place), place)


def linkToFolder(place):
    remove(place)
    os.symlink(os.path.join(work, "outside"), place)


def linkToDevice(place):
    remove(place)
    os.symlink("/dev/zero", place)


def moved(place):
    """What was there, by way of a link."""
    remove(os.path.join(work, "moved"))
    os.rename(place, os.path.join(work, "moved"))
    os.symlink(os.path.join(work, "moved"), place)


def huge(place):
    remove(place)
    write(place, b"")
    os.truncate(place, 1 << 40)


# In place: under a process that has the file open.

def overwritten(place):
    if os.path.isfile(place):
        write(place, noise(max(1, os.path.getsize(place))), "r+b")


def zeroed(place):
    if os.path.isfile(place):
        write(place, bytes(max(1, os.path.getsize(place))), "r+b")


def grown(place):
    if os.path.isfile(place):
        write(place, noise(9_000), "ab")


def cut(place):
    if os.path.isfile(place):
        os.truncate(place, os.path.getsize(place) // 2)


def emptied(place):
    if os.path.isfile(place):
        os.truncate(place, 0)


TAKEN = [gone, empty, garbage, zeros, folder, fullFolder, pipe, listener, linkToFile, linkToNowhere, linkToItself,
         linkToFolder, linkToDevice, moved, huge]
IN_PLACE = [overwritten, zeroed, grown, cut, emptied]
FILES = ["Cache.db", "Cache.db-wal", "Cache.db-shm", "Cache.gen",
         "CACHEDIR.TAG", "Cache.db-journal", "Cache.db.damaged"]
FOLDERS = ["writers", "bodies", "files"]
# What is mapped into memory.
MAPPED = ["Cache.db-shm", "Cache.gen"]


def swapBodies(directory):
    files = bodies(directory)
    for a, b in zip(files, files[1:]):
        os.rename(a, a + "-")
        os.rename(b, a)
        os.rename(a + "-", b)


def flipBodies(directory):
    for file in bodies(directory):
        with open(file, "r+b") as f:
            f.seek(os.path.getsize(file) // 2)
            byte = f.read(1)[0]
            f.seek(-1, 1)
            f.write(bytes([byte ^ 4]))


def full(folder):
    """Whose files nobody may delete, so that they stay findings."""
    return folder is not None and folder.__name__ == "bodies fullFolder"


def eachBody(change):
    def apply(directory):
        for file in bodies(directory):
            change(file)
    apply.__name__ = "bodies " + change.__name__
    return apply


def openBodies(directory):
    for file in bodies(directory):
        os.chmod(file, 0o000)


def otherDatabase(directory):
    remove(directory + "/Cache.db-wal")
    remove(directory + "/Cache.db-shm")
    remove(directory + "/Cache.db")
    base = sqlite3.connect(directory + "/Cache.db")
    base.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, hash TEXT)")
    base.execute("PRAGMA application_id = 1212375912")
    base.execute("PRAGMA user_version = 4")
    base.commit()
    base.close()


def databaseOfOther(directory):
    """Of another cache, with its log."""
    for name in ("Cache.db", "Cache.db-wal", "Cache.db-shm"):
        remove(os.path.join(directory, name))
    shutil.copy(os.path.join(work, "other", "Cache.db"), os.path.join(directory, "Cache.db"))


def logOfOther(directory):
    shutil.copy(os.path.join(work, "open", "Cache.db-wal"), os.path.join(directory, "Cache.db-wal"))


def looseModes(directory):
    for d, ds, fs in os.walk(directory):
        for f in ds + fs:
            os.chmod(os.path.join(d, f), 0o777)


BODIES = [swapBodies, flipBodies, openBodies] + [eachBody(c) for c in TAKEN[:-1] + IN_PLACE]
WHOLE = BODIES + [otherDatabase, databaseOfOther, logOfOther, looseModes]


def prepare():
    write(os.path.join(work, "secret"), b"a secret of somebody else\n" * 1_000)
    os.mkdir(os.path.join(work, "outside"))
    write(os.path.join(work, "outside", "file"), b"outside")
    fill(os.path.join(work, "base"))
    serve = Serve(os.path.join(work, "other"))
    serve.answers("filling", [path(size, "other") for size in OLD])
    serve.stop("filling")
    # As a process that was killed leaves it.
    serve = Serve(os.path.join(work, "open"))
    serve.answers("filling", [path(size, "old") for size in OLD] * 2)
    serve.process.kill()
    serve.process.wait()


def untouchedOutside(name):
    with open(os.path.join(work, "secret"), "rb") as file:
        content = file.read()
    check(f"{name}: nothing elsewhere is touched",
          content == b"a secret of somebody else\n" * 1_000 and os.listdir(os.path.join(work, "outside")) == ["file"])


def afterwards(name, directory):
    """The next process: stores, and is clean after a repair."""
    serve = Serve(directory)
    if check(f"{name}, next: starts", serve.port, serve.lines):
        serve.answers(f"{name}, next", [path(size, "old") for size in OLD] + [path(size, "new") for size in NEW],
                      mayBreakOff=True)
        serve.answers(f"{name}, next", [path(size, "old") for size in OLD])
    serve.stop(f"{name}, next", allowed=(0, 1, 10))
    if os.path.isfile(directory + "/Cache.db"):
        run("verify", "--repair", "--dir", directory)
        code, out, err = run("verify", "--dir", directory)
        check(f"{name}, next: clean after repair", code == 0, f"{code} {out.decode()[-300:]} {err[-300:]}")


def mayRefuse(name, how):
    """Folders that cannot be used: the cache goes on in memory, and says so."""
    return name is not None and (name in ("writers", "bodies", "files") and how not in (gone, folder, fullFolder) \
        or (name.startswith("Cache.db-") and how in (folder, fullFolder, pipe, listener, linkToFile, linkToNowhere,
                                                     linkToItself, linkToFolder, linkToDevice, moved)) \
        or how is fullFolder)


def atRest(name, damage, what=None, how=None):
    directory = os.path.join(work, "cache")
    for source in ("base", "open"):
        clone(os.path.join(work, source), directory)
        damage(directory)
        title = f"at rest, {source}, {name}"
        commands(title, directory) if source == "base" else None
        serve = Serve(directory)
        if not check(f"{title}: starts", serve.port, serve.lines):
            serve.stop(title)
            continue
        serve.answers(title, [path(size, "old") for size in OLD] + [path(size, "new") for size in NEW],
                      mayBreakOff=True)
        serve.answers(title, [path(size, "old") for size in OLD] + [path(size, "new") for size in NEW])
        if not mayRefuse(what, how):
            serve.stores(title, "again")
        else:
            if "; hit" not in serve.get(path(20_000, "old"))[2]:
                check(f"{title}: says that it cannot store", bool(serve.lines))
        serve.stop(title)
    untouchedOutside(name)


def running(name, damage, allowed=(0,), what=None, how=None):
    directory = os.path.join(work, "cache")
    clone(os.path.join(work, "base"), directory)
    title = f"running, {name}"
    serve = Serve(directory)
    serve.answers(title, [path(size, "old") for size in OLD] * 2)
    damage(directory)
    died = False
    if CUT_MEMORY in allowed:
        # Whether the system ends it depends on what is touched when.
        for where in [path(size, "old") for size in OLD] + [path(size, "new") for size in NEW]:
            try:
                status, body, _ = serve.get(where)
                check(f"{title}: {where} is right", status == 200 and right(where, body), status)
            except (OSError, http.client.HTTPException):
                time.sleep(0.2)
                died = serve.process.poll() is not None
                if not died:
                    check(f"{title}: {where} is answered", False)
                break
    else:
        for turn in range(2):
            serve.answers(title, [path(size, "old") for size in OLD] + [path(size, f"new{turn}") for size in NEW],
                          mayBreakOff=turn == 0)
        if not mayRefuse(what, how):
            serve.stores(title, "again")
    if died:
        print(f"     {title}: ended by {signal.Signals(-serve.process.poll()).name}", flush=True)
    serve.stop(title, allowed=allowed)
    afterwards(title, directory) if not mayRefuse(what, how) else None
    untouchedOutside(name)


def damaging(name, how):
    """What does `how` to a file or folder of a directory."""
    def damage(directory):
        place = os.path.join(directory, name)
        if os.path.lexists(place) or how not in IN_PLACE + [moved, garbage, zeros]:
            how(place)
    return damage


def partRest():
    for name in FILES + FOLDERS:
        for how in TAKEN + ([] if name in FOLDERS else IN_PLACE):
            atRest(f"{name} {how.__name__}", damaging(name, how), name, how)


def partRunning():
    for name in FILES + FOLDERS:
        for how in TAKEN + ([] if name in FOLDERS else IN_PLACE):
            isCut = name in MAPPED and how in (cut, emptied)
            running(f"{name} {how.__name__}", damaging(name, how), (0, CUT_MEMORY) if isCut else (0,), name, how)


def partBodies():
    for damage in WHOLE:
        atRest(damage.__name__, damage)
        running(damage.__name__, damage, what="bodies" if full(damage) else None,
                how=fullFolder if full(damage) else None)


EXTREMES = ["9223372036854775807", "-9223372036854775808", "-1", "0", "1e308", "-1e308", "'text'", "zeroblob(100)",
            "x'ff'", "zeroblob(10000000)"]


def partRows():
    changes = []
    directory = os.path.join(work, "cache")
    clone(os.path.join(work, "base"), directory)
    base = sqlite3.connect(directory + "/Cache.db")
    entryColumns = [row[1] for row in base.execute("PRAGMA table_info(entry)")]
    base.close()
    for column in entryColumns:
        for value in EXTREMES:
            one = "id = (SELECT max(id) FROM entry)" if column in ("id", "hash", "variant", "file", "partial") else "1"
            changes.append(f"UPDATE OR IGNORE entry SET {column} = {value} WHERE {one}")
    for table, columns in (("state", ["sequence", "entries", "bodies"]),
                           ("counts", ["hits", "validated", "misses", "stores", "evictions", "hitBytes", "originBytes"]),
                           ("block", ["part", "pieces"]), ("meta", ["value"])):
        for value in EXTREMES[:-1]:
            if table == "counts":
                changes.append("UPDATE counts SET " + ", ".join(f"{c} = {value}" for c in columns))
            for column in columns:
                changes.append(f"UPDATE OR IGNORE {table} SET {column} = {value}")
    for row in ("-5, x'ffffffffffffffff0000000000000000'", "9223372036854775807, zeroblob(16)", "7, x'00'"):
        changes.append(f"INSERT OR REPLACE INTO block SELECT id, {row} FROM entry")
    for kind in range(-1, 12):
        changes.append(f"INSERT OR REPLACE INTO epoch VALUES ({kind}, 1, 'x', 'y', 9223372036854775807)")
        changes.append(f"INSERT OR REPLACE INTO epoch VALUES ({kind}, -7, zeroblob(9), 1e300, -9223372036854775808)")
    changes += [
        "UPDATE entry SET partial = 1", "UPDATE entry SET file = '../../../secret' WHERE file IS NOT NULL AND id = "
        "(SELECT max(id) FROM entry WHERE file IS NOT NULL)",
        "INSERT INTO refusal (hash, time, status, steps) SELECT hash, 9223372036854775807, -9223372036854775808, "
        "zeroblob(5000) FROM entry",
        "INSERT INTO refusal (hash, time, status, steps) SELECT hash, -9223372036854775808, 99999999999, x'ffffffffffffff' "
        "FROM entry",
        "INSERT INTO meta VALUES ('capacity', -9223372036854775808)", "INSERT OR REPLACE INTO meta VALUES ('sealed', 'x')",
        "INSERT OR REPLACE INTO meta VALUES ('capacity', 9223372036854775807)",
        "DROP TABLE block", "DROP INDEX entryKey", "DROP INDEX entryOrder", "DELETE FROM state",
        "DELETE FROM counts", "DELETE FROM meta", "ALTER TABLE entry RENAME TO other",
        "ALTER TABLE entry RENAME COLUMN record TO something", "CREATE TABLE later (x)",
        "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END",
        "CREATE TRIGGER t AFTER UPDATE ON state BEGIN SELECT RAISE(ABORT, 'no'); END",
        "ALTER TABLE block RENAME TO b; CREATE VIEW block AS WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c) "
        "SELECT 1 entry, x part, zeroblob(16) pieces FROM c",
        "PRAGMA user_version = 0", "PRAGMA user_version = 1",
        "PRAGMA application_id = 0", "PRAGMA journal_mode = DELETE", "PRAGMA auto_vacuum = 0; VACUUM",
        "PRAGMA journal_mode = DELETE; PRAGMA page_size = 65536; VACUUM",
        "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM",
    ]
    for number, change in enumerate(changes):
        title = f"rows, {change[:150]}"
        clone(os.path.join(work, "base"), directory)
        base = sqlite3.connect(directory + "/Cache.db", isolation_level=None)
        try:
            base.executescript(change)
        except sqlite3.Error as error:
            skip(title, error)
            base.close()
            continue
        base.close()
        for arguments in (["ls", "--json"], ["ls", "--unused-for", "1"], ["stats"], ["verify"],
                          ["explain", upstream + path(20_000, "old"), "--shared"]):
            code, out, err = run(*arguments, "--dir", directory)
            check(f"{title}: {' '.join(arguments)}", isinstance(code, int) and 0 <= code < 126, f"{code} {err[-300:]}")
        serve = Serve(directory)
        if check(f"{title}: starts", serve.port, serve.lines):
            serve.answers(title, [path(size, "old") for size in OLD], mayBreakOff=True)
            serve.answers(title, [path(size, "old") for size in OLD])
            serve.stores(title, "again")
        serve.stop(title)
        code, out, err = run("verify", "--repair", "--dir", directory)
        check(f"{title}: repair", isinstance(code, int) and 0 <= code < 126, f"{code} {err[-300:]}")
        code, out, err = run("verify", "--dir", directory)
        check(f"{title}: clean after repair", code == 0, f"{code} {out.decode()[-300:]} {err[-300:]}")


def partPages():
    directory = os.path.join(work, "cache")
    for source, name in (("base", "Cache.db"), ("open", "Cache.db"), ("open", "Cache.db-wal"), ("open", "Cache.db-shm")):
        whole = os.path.getsize(os.path.join(work, source, name))
        step = 4_120 if name.endswith("wal") else 4_096
        first = 32 if name.endswith("wal") else 0
        for length in [n + d for n in range(first, whole, step * max(1, whole // step // 40)) for d in (0, 1_000)]:
            clone(os.path.join(work, source), directory)
            os.truncate(os.path.join(directory, name), length)
            title = f"pages, {source}, {name} of {length} bytes"
            code, _, err = run("ls", "--dir", directory) if length % 3 == 0 else (0, 0, "")
            check(f"{title}: ls", isinstance(code, int) and 0 <= code < 126, f"{code} {err[-200:]}")
            serve = Serve(directory)
            if check(f"{title}: starts", serve.port, serve.lines):
                serve.answers(title, [path(size, "old") for size in OLD], mayBreakOff=True)
                serve.stores(title, "again")
            serve.stop(title)


def partPlaces():
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nonexistent"]
    isRoot = os.geteuid() == 0 and shutil.which("setpriv")
    long = os.path.join(work, *["n" * 200] * 30)
    os.mkdir(os.path.join(work, "strange"))
    places = {
        "no name": "", "the root of the file system": "/proc", "below a device": "/dev/null/cache",
        "a device": "/dev/null", "too long": long, "a component too long": os.path.join(work, "n" * 300),
        "a line break in its name": os.path.join(work, "strange", "a\nb"),
        "other characters": os.path.join(work, "strange", "日本 ☃ ‮ '\"$(x)"),
        "a percent sign and a question mark": os.path.join(work, "strange", "a%2e?x#y"),
        "dots": os.path.join(work, "strange", "..", "strange", ".", "dots"),
    }
    for name, place in places.items():
        title = f"places, {name}"
        serve = Serve(place)
        if serve.port is None:
            check(f"{title}: says why it does not start", serve.process.wait() > 0 and serve.lines, serve.lines)
            continue
        serve.answers(title, [path(size, "old") for size in OLD] * 2)
        stored = os.path.isfile(os.path.join(place, "Cache.db")) if place and len(place) < 4_000 else False
        check(f"{title}: stores there, or says that it cannot", stored or serve.lines)
        print(f"     {title}: {'stores there' if stored else serve.lines[0].replace(work, 'WORK')[:160]}", flush=True)
        serve.stop(title)
        code, out, err = run("get", "--shared", "--dir", place, upstream + path(20_000, "old"))
        check(f"{title}: get", code in (0, 64) and (code == 64 or right(path(20_000, "old"), out)), f"{code} {err}")
        code, out, err = run("stats", "--dir", place)
        check(f"{title}: stats", code in (0, 10, 64) and (code == 0 or err), f"{code} {err}")
    if not isRoot:
        return skip("places, another user", "needs root and setpriv")
    for mode in (0o700, 0o755, 0o777, 0o1777):
        for inner in (False, True):
            directory = os.path.join(work, "cache")
            clone(os.path.join(work, "base"), directory)
            if inner:
                looseModes(directory)
            os.chmod(directory, mode)
            title = f"places, another user's, mode {mode:o}{', files too' if inner else ''}"
            serve = Serve(directory, prefix=other)
            if check(f"{title}: starts", serve.port, serve.lines):
                serve.answers(title, [path(size, "old") for size in OLD] + [path(size, "new") for size in NEW])
                check(f"{title}: says what cannot be, or can", serve.lines or inner or mode == 0o777, serve.lines)
            serve.stop(title)
            for arguments in (["ls"], ["stats"], ["verify"], ["verify", "--repair"], ["purge", "--all"]):
                code, _, err = run(*arguments, "--dir", directory, prefix=other)
                check(f"{title}: {' '.join(arguments)}", code in (0, 10, 1), f"{code} {err}")
            os.chmod(directory, 0o700)
            afterwards(title, directory)
    # Each file for itself, unreadable or unwritable.
    for name in ["Cache.db", "Cache.db-wal", "Cache.db-shm", "Cache.gen", "writers", "bodies",
                 "CACHEDIR.TAG"]:
        for mode in (0o000, 0o444):
            directory = os.path.join(work, "cache")
            clone(os.path.join(work, "open"), directory)
            subprocess.run(["chown", "-R", "65534:65534", directory], check=True)
            if not os.path.exists(os.path.join(directory, name)):
                continue
            os.chown(os.path.join(directory, name), 0, 0)
            os.chmod(os.path.join(directory, name), mode)
            title = f"places, {name} of another user with mode {mode:o}"
            serve = Serve(directory, prefix=other)
            if check(f"{title}: starts", serve.port, serve.lines):
                serve.answers(title, [path(size, "old") for size in OLD] + [path(size, "new") for size in NEW], True)
                serve.answers(title, [path(size, "old") for size in OLD] + [path(size, "new") for size in NEW])
                hits = "; hit" in serve.get(path(900_000, "old"))[2] and "; hit" in serve.get(path(20_000, "old"))[2]
                check(f"{title}: stores, or says that it cannot", hits or serve.lines, serve.lines)
            serve.stop(title)


def mounted(options, body):
    place = os.path.join(work, "mounted")
    os.makedirs(place, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], stderr=subprocess.DEVNULL).returncode:
        return skip(f"limits, {options}", "no leave to mount")
    try:
        body(place)
    finally:
        subprocess.run(["umount", "-l", place])


def partLimits():
    def works(title, directory, *options, prefix=(), stores=False, tells=True):
        serve = Serve(directory, *options, prefix=prefix)
        if not serve.port:
            code = serve.process.wait()
            return check(f"{title}: does not start, and says why", code > 0 and serve.lines, f"{code} {serve.lines}")
        tags = ["old", "more", "old"]
        for tag in tags:
            serve.answers(f"{title}", [path(size, tag) for size in OLD + [3_000_000]], mayBreakOff=True)
        if stores:
            serve.stores(title, "again")
        elif tells:
            check(f"{title}: says so", serve.lines)
        if serve.lines:
            print(f"     {title}: {serve.lines[0].replace(work, 'WORK')[:160]}", flush=True)
        serve.stop(title)

    for size in ("12k", "64k", "136k", "140k", "200k", "256k", "300k", "400k", "600k", "1m"):
        mounted(f"size={size},mode=755", lambda place: works(f"limits, a file system of {size}", place + "/cache", tells=False))
    for inodes in (2, 4, 6, 8, 10, 12, 20, 30):
        mounted(f"size=20m,nr_inodes={inodes},mode=755",
                lambda place: works(f"limits, {inodes} files", place + "/cache", tells=inodes < 8))

    def noRoomForLog(place):
        directory = place + "/cache"
        clone(os.path.join(work, "base"), directory)
        try:
            write(place + "/zeros", bytes(50_000_000))
        except OSError:
            pass
        works("limits, no byte left for the log", directory)
        for arguments in (["ls"], ["stats"], ["verify"], ["verify", "--repair"], ["purge", "--all"], ["ls"]):
            code, out, err = run(*arguments, "--dir", directory)
            check(f"limits, no byte left: {' '.join(arguments)}", code in (0, 1, 10) and (code == 0 or err or out),
                  f"{code} {err}")
        os.unlink(place + "/zeros")
        afterwards("limits, room again", directory)
    mounted("size=8m,mode=755", noRoomForLog)

    # With fewer than the event loops need, 28 on two cores, the command says so and ends.
    for files in (24, 32, 48):
        directory = os.path.join(work, "cache")
        clone(os.path.join(work, "base"), directory)
        prefix = ["prlimit", f"--nofile={files}:{files}"]
        code, out, err = run("get", "--shared", "--dir", directory, upstream + path(20_000, "old"), prefix=prefix)
        check(f"limits, {files} open files: get is right or says why",
              (code == 0 and right(path(20_000, "old"), out)) or (isinstance(code, int) and code > 0 and err),
              f"{code} {err[-300:]}")
        code, out, err = run("stats", "--dir", directory, prefix=prefix)
        check(f"limits, {files} open files: stats", isinstance(code, int) and code >= 0 and (code == 0 or err),
              f"{code} {err[-300:]}")
        if files >= 32:
            works(f"limits, {files} open files", directory, prefix=prefix, tells=False)
            afterwards(f"limits, {files} open files", directory)
    for size in (1, 4_096, 100_000, 150_000, 1_000_000):
        directory = os.path.join(work, "cache")
        remove(directory)
        prefix = ["prlimit", f"--fsize={size}:{size}"]
        works(f"limits, files of {size} bytes at most", directory, prefix=prefix, tells=size < 1_000_000)
        code, out, err = run("get", "--shared", "--dir", directory, upstream + path(20_000, "old"), prefix=prefix)
        check(f"limits, files of {size} bytes at most: get is right or says why",
              (code == 0 and right(path(20_000, "old"), out)) or (isinstance(code, int) and code > 0 and err),
              f"{code} {err[-300:]}")
        clone(os.path.join(work, "base"), directory)
        works(f"limits, filled, files of {size} bytes at most", directory, prefix=prefix, tells=False)
        afterwards(f"limits, files of {size} bytes at most", directory)


def partProcesses():
    directory = os.path.join(work, "cache")

    def together(title, deeds, allowed=(0,), check_after=True):
        clone(os.path.join(work, "base"), directory)
        serve = Serve(directory)
        end = threading.Event()

        def disturb():
            while not end.is_set():
                deeds()
        thread = threading.Thread(target=disturb, daemon=True)
        thread.start()
        for turn in range(6):
            serve.answers(title, [path(size, "old") for size in OLD] + [path(size, f"t{turn}") for size in NEW],
                          mayBreakOff=True)
        end.set()
        thread.join(60)
        serve.answers(title, [path(size, "old") for size in OLD])
        serve.stores(title, "again")
        serve.stop(title, allowed)
        afterwards(title, directory)

    def fine(*arguments):
        code, _, err = run(*arguments, "--dir", directory)
        check(f"processes, {' '.join(arguments)}", code in (0, 1, 10), f"{code} {err[-300:]}")

    together("processes, one purges all", lambda: fine("purge", "--all"))
    together("processes, one purges by prefix", lambda: fine("purge", "--prefix", upstream))
    together("processes, one repairs", lambda: fine("verify", "--repair"))
    together("processes, one wipes a partition", lambda: fine("purge", "--partition", ""))
    together("processes, one deletes the directory", lambda: (shutil.rmtree(directory, ignore_errors=True), time.sleep(0.05)))
    together("processes, one deletes all files in it",
             lambda: ([remove(os.path.join(directory, n)) if not os.path.isdir(os.path.join(directory, n)) else
                       shutil.rmtree(os.path.join(directory, n), ignore_errors=True)
                       for n in (os.listdir(directory) if os.path.isdir(directory) else [])], time.sleep(0.05)))
    together("processes, one deletes the bodies",
             lambda: (shutil.rmtree(directory + "/bodies", ignore_errors=True), time.sleep(0.02)))
    together("processes, one deletes the index", lambda: (remove(directory + "/Cache.db"), time.sleep(0.05)))

    def exchange():
        away = os.path.join(work, "away")
        remove(away)
        try:
            os.rename(directory, away)
            subprocess.run(["cp", "-a", os.path.join(work, "open"), directory], check=True)
        except OSError:
            pass
        time.sleep(0.1)
    together("processes, one exchanges the directory", exchange)

    def holdWriting():
        base = sqlite3.connect(directory + "/Cache.db", timeout=1, isolation_level=None)
        try:
            base.execute("BEGIN IMMEDIATE")
            time.sleep(0.5)
            base.execute("ROLLBACK")
        except sqlite3.Error:
            pass
        base.close()
        time.sleep(0.05)
    together("processes, one holds the index for writing", holdWriting)

    clone(os.path.join(work, "base"), directory)
    servers = [Serve(directory, "--disk", disk) for disk in ("200M", "3M", "200M")]
    places = [path(size, f"x{turn}") for turn in range(10) for size in OLD + NEW]

    def ask(serve):
        for where in places:
            try:
                serve.get(where)
            except (OSError, http.client.HTTPException):
                return
    threads = [threading.Thread(target=lambda s=s: s.answers(
        "processes, three serve, one of them with room for little", places, mayBreakOff=True))
        for s in (servers[0], servers[2])] + [threading.Thread(target=ask, args=(servers[1],))]
    for thread in threads:
        thread.start()
    time.sleep(0.4)
    servers[1].process.kill()
    for thread in threads:
        thread.join(300)
    for number in (0, 2):
        servers[number].stores("processes, three serve, one killed", f"again{number}")
        servers[number].stop("processes, three serve, one killed")
    afterwards("processes, three serve, one killed", directory)


parts = {"rest": partRest, "running": partRunning, "bodies": partBodies, "rows": partRows, "pages": partPages, "places": partPlaces,
         "limits": partLimits, "processes": partProcesses}
try:
    prepare()
    for name, part in parts.items():
        if not chosen or name in chosen:
            before, start = (tally.passed, tally.failed), time.monotonic()
            print(f"== {name}", flush=True)
            part()
            print(f"     {name}: {tally.passed - before[0]} passed, {tally.failed - before[1]} failed, "
                  f"{time.monotonic() - start:.0f} s", flush=True)
finally:
    subprocess.run(["chmod", "-R", "u+rwX", work], stderr=subprocess.DEVNULL)
    shutil.rmtree(work, ignore_errors=True)
print(f"     {answers} answers compared")
print(f"{tally.passed} passed, {tally.failed} failed")
sys.exit(tally.failed != 0)
