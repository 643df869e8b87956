#!/usr/bin/env python3
"""Three servers of a fleet in front of one origin while their Redis server, or their cluster, is at fault.

    fleet.py PROGRAM [SECONDS [PLACE...]]

PROGRAM is the built httpcache. For each fault: 200 requests a second over the three servers, and two purges a second,
for SECONDS (10); the fault begins after a fifth of them, and lasts three seconds where it lasts. Each body is compared
with what the origin has for the page and its version. A version that was removed by a purge that all servers had
confirmed counts as wrong in each later answer.

A PLACE is one of server, cluster, cut and split; all of them unless given. The faults of the network, the last two, need Linux and the rights to make network namespaces (root). Without them they are skipped.
"""
import contextlib, hashlib, http.client, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hosts, servers

RATE, WORKERS, PAGES, DOWN = 200, 32, 100, 3.0
TOKEN = "the-token-of-this-trial"
HOST = "site.example"
versions = {}
lock = threading.Lock()


def body(page, version):
    """The bytes of a page: every tenth has more than one part in the tier."""
    line = f"{page} {version}\n".encode()
    size = 600_000 if page.endswith("0") and page.startswith("/page") else 2_000
    return line + hashlib.shake_256(line).digest(1_000) * (size // 1_000)


class Handler(servers.Handler):
    def do_GET(self):
        with lock:
            version = versions.setdefault(self.path, 1)
        data = body(self.path, version)
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("ETag", f'"{version}"')
        self.end_headers()
        self.wfile.write(data)


def ask(port, method, path, headers, timeout=30, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        with host.entered() if host else contextlib.nullcontext():
            connection.connect()
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Redis:
    """A Redis server on a port of its own, on this machine's loopback or on a host."""

    def __init__(self, *options, host=None):
        self.folder = tempfile.mkdtemp(prefix="httpcache-fleet-")
        self.port, self.options, self.host = servers.free_port(), options, host
        self.start()

    @property
    def endpoint(self):
        return f"{self.host.address if self.host else '127.0.0.1'}:{self.port}"

    @property
    def address(self):
        return f"redis://{self.endpoint}"

    def start(self, *options, until="PONG"):
        """Starts the server, and returns when it answers PING with this text."""
        bound = ["--bind", "127.0.0.1", *([self.host.address, "--protected-mode", "no"] if self.host else [])]
        self.process = subprocess.Popen(
            [*(self.host.prefix if self.host else []), shutil.which("redis-server") or "valkey-server",
             "--port", str(self.port), *bound, "--save", "", "--appendonly", "no", "--maxmemory", "256mb",
             "--maxmemory-policy", "volatile-lfu", "--dir", self.folder, "--logfile", "log", *self.options, *options])
        end = time.monotonic() + 30
        while self.process.poll() is None and not self.tell("PING").startswith(until):
            if time.monotonic() > end:
                sys.exit(f"redis-server does not answer PING with {until}")
            time.sleep(0.02)
        if self.process.poll() is not None:
            sys.exit("redis-server ended")

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()

    def kill(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, *words):
        client = shutil.which("redis-cli") or "valkey-cli"
        return subprocess.run(
            [*(self.host.prefix if self.host else []), client, "-p", str(self.port), *words],
            capture_output=True, text=True, timeout=10).stdout.strip()

    def restart_slowly(self):
        """Ends without notice, and starts with so many keys to load that it answers -LOADING for three seconds."""
        self.tell("EVAL", "for i = 1, 3000 do redis.call('SET', 'filler:' .. i, 'x') end", "0")
        self.tell("SAVE")
        self.end(signal.SIGKILL)
        self.start("--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024", until="LOADING")


class Cluster:
    """Three primaries with a replica each. The second one has the log."""

    LOG = "hc1:default:{default}:log"

    def __init__(self, places=(None,) * 6):
        buses = [servers.free_port() for _ in range(6)]
        self.servers = [Redis("--cluster-enabled", "yes", "--cluster-port", str(bus), "--cluster-node-timeout", "2000",
                              host=place) for bus, place in zip(buses, places)]
        primaries, replicas = self.servers[:3], self.servers[3:]
        for server, (first, last) in zip(primaries, [(0, 5460), (5461, 10922), (10923, 16383)]):
            server.tell("CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
        for number, server in enumerate(self.servers):
            server.tell("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            server.tell("CLUSTER", "MEET", *primaries[0].endpoint.split(":"), str(buses[0]))
        self.until(lambda: all("cluster_known_nodes:6" in s.tell("CLUSTER", "INFO") for s in self.servers))
        for replica, primary in zip(replicas, primaries):
            number = primary.tell("CLUSTER", "MYID")
            self.until(lambda: replica.tell("CLUSTER", "REPLICATE", number) == "OK")
        self.until(lambda: all("cluster_state:ok" in s.tell("CLUSTER", "INFO") for s in self.servers))
        self.until(lambda: all("master_link_status:up" in s.tell("INFO", "replication") for s in replicas))

    @staticmethod
    def until(condition):
        end = time.monotonic() + 30
        while not condition():
            if time.monotonic() > end:
                sys.exit("the cluster does not form")
            time.sleep(0.05)

    @property
    def address(self):
        return "redis://" + ",".join(server.endpoint for server in self.servers[:3])

    def primary(self):
        """The server that has the log."""
        return next(s for s in self.servers if s.process.poll() is None and s.tell("EXISTS", self.LOG) == "1")

    def fail_over(self):
        port = self.primary().tell("INFO", "replication").split("slave0:")[1].split("port=")[1].split(",")[0]
        replica = next(s for s in self.servers if s.port == int(port))
        replica.tell("CLUSTER", "FAILOVER")
        self.until(lambda: replica.tell("EXISTS", self.LOG) == "1")

    def kill_primary(self):
        self.killed = self.primary()
        self.killed.end(signal.SIGKILL)

    def kill(self):
        for server in self.servers:
            server.kill()


class Node:
    """A server of the fleet."""

    def __init__(self, program, folder, upstream, redis, host=None):
        self.host = host
        self.process = subprocess.Popen(
            [*(host.prefix if host else []), program, "serve", "--upstream", upstream, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
             "--admin-token-file", f"{folder}/token", "--dir", tempfile.mkdtemp(dir=folder), "--access-log",
             "none", "--fleet", redis.address], stderr=subprocess.PIPE, text=True)
        ports = []
        for line in self.process.stderr:
            if "listening on" in line or "admin listener on" in line:
                ports.append(int(line.rsplit(":", 1)[1]))
            if " of fleet " in line:
                break
        if len(ports) != 2:
            sys.exit("a server did not start")
        self.port, self.admin = ports
        # A pipe that is full would stop the server.
        threading.Thread(target=lambda: [None for _ in self.process.stderr], daemon=True).start()

    def page(self, path):
        return ask(self.port, "GET", path, {"Host": HOST}, host=self.host)

    def tell(self, method, path):
        return ask(self.admin, method, path, {"Authorization": f"Bearer {TOKEN}"}, host=self.host)

    def is_connected(self):
        fleet = json.loads(self.tell("GET", "/stats")[1])["fleet"]
        return fleet["isConnected"] and fleet["pendingChanges"] == 0

    def failures(self):
        """How many look-ups and locks of requests have failed at the tier, by /metrics; those that the node did not
        try, because the tier is left alone, do not count."""
        text = self.tell("GET", "/metrics")[1].decode()
        asked = ('operation="look up a response"', 'operation="lock"')
        return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.startswith("httpcache_fleet_failures_total{") and any(name in line for name in asked))


class Load:
    """Requests and purges during one fault."""

    def __init__(self, nodes, base, seconds, name):
        self.nodes, self.base, self.seconds, self.name = nodes, base, seconds, name
        self.requests = self.failed = self.wrong = self.cut = 0
        self.slowest = 0.0
        self.confirmed = {}  # page: versions that all nodes had confirmed, with the time of the answer
        self.purges, self.pending, self.refused = 0, [], 0
        self.examples = []
        self.start = time.monotonic()

    def note(self, kind, text):
        with lock:
            setattr(self, kind, getattr(self, kind) + 1)
            if len(self.examples) < 5:
                self.examples.append(f"{kind}: {text}")

    def request(self, node, path):
        begin = time.monotonic()
        with lock:
            least = max([v for t, v in self.confirmed.get(path, []) if t < begin], default=1)
            self.requests += 1
        try:
            status, data = node.page(path)
        except http.client.IncompleteRead as error:
            return self.note("cut", f"{path}: {error}")
        except (OSError, http.client.HTTPException) as error:
            return self.note("failed", f"{path}: {error!r}")
        took = time.monotonic() - begin
        with lock:
            self.slowest = max(self.slowest, took)
        if status != 200:
            return self.note("failed", f"{path}: {status} {data[:100]}")
        version = int(data.split(b"\n", 1)[0].split()[1])
        if data != body(path, version):
            return self.note("wrong", f"{path}: other bytes")
        if version < least:
            self.note("wrong", f"{path}: version {version}, and {least} was confirmed")

    def worker(self, number, seed):
        rnd = random.Random(seed)
        tick = number
        while True:
            due = self.start + tick / RATE
            if due > self.start + self.seconds:
                return
            time.sleep(max(0, due - time.monotonic()))
            path = f"/page/{rnd.randrange(PAGES)}" if rnd.random() < 0.8 else f"/once/{hash(self.name) % 9999}/{tick // 3}"
            self.request(rnd.choice(self.nodes), path)
            tick += WORKERS

    def purger(self, seed):
        rnd = random.Random(seed)
        while time.monotonic() < self.start + self.seconds:
            path = f"/page/{rnd.randrange(PAGES)}"
            with lock:
                versions[path] = version = versions.get(path, 1) + 1
            node = rnd.choice(self.nodes)
            status, text = node.tell("POST", f"/purge?url={self.base}{path}")
            now = time.monotonic()
            self.purges += 1
            if status == 200:
                with lock:
                    self.confirmed.setdefault(path, []).append((now, version))
            elif status == 202:
                self.pending.append((path, version))
            else:
                self.note("refused", f"purge: {status} {text[:100]}")
            time.sleep(max(0, 0.5 - (time.monotonic() - now)))

    def begin(self):
        self.threads = [threading.Thread(target=self.worker, args=(n, n)) for n in range(WORKERS)]
        self.threads.append(threading.Thread(target=self.purger, args=(9,)))
        for thread in self.threads:
            thread.start()

    def end(self):
        for thread in self.threads:
            thread.join()
        # Each purge that was pending is applied now, on each node.
        lost = 0
        for path, version in self.pending:
            for node in self.nodes:
                data = node.page(path)[1]
                if int(data.split(b"\n", 1)[0].split()[1]) < version:
                    lost += 1
                    self.examples.append(f"lost: {path}, version {version}, on port {node.port}")
        return lost


def faults(redis):
    """Name, the beginning of the fault, its end; a fault without an end begins and ends at once."""
    yield "none", lambda: None, None
    yield "kill -9, empty again after 3 s", lambda: redis.end(signal.SIGKILL), redis.start
    yield "SIGSTOP for 3 s, SIGCONT", lambda: redis.process.send_signal(signal.SIGSTOP), \
        lambda: redis.process.send_signal(signal.SIGCONT)
    yield "FLUSHALL", lambda: redis.tell("FLUSHALL"), None
    yield "restart, empty", lambda: (redis.end(signal.SIGTERM), redis.start()), None
    yield "-LOADING for 3 s, after kill -9", redis.restart_slowly, \
        lambda: Cluster.until(lambda: redis.tell("PING") == "PONG")
    yield "-READONLY for 3 s", lambda: redis.tell("REPLICAOF", "127.0.0.1", "9"), \
        lambda: redis.tell("REPLICAOF", "NO", "ONE")
    yield "-OOM for 3 s", lambda: (redis.tell("CONFIG", "SET", "maxmemory-policy", "noeviction"),
                                   redis.tell("CONFIG", "SET", "maxmemory", "1")), \
        lambda: (redis.tell("CONFIG", "SET", "maxmemory", "256mb"),
                 redis.tell("CONFIG", "SET", "maxmemory-policy", "volatile-lfu"))


def cluster_faults(cluster):
    yield "cluster: none", lambda: None, None
    yield "cluster: planned failover", cluster.fail_over, None
    yield "cluster: kill -9 of the log's", cluster.kill_primary, lambda: cluster.killed.start()


def cut_faults(redis):
    """One server, and the nodes on another host."""
    network, place, node = redis.network, redis.host, redis.network.all[1]
    yield "network cut for 3 s", lambda: network.cut([place], [node]), lambda: network.heal([place], [node])


def split_faults(cluster):
    """The log's primary on a host of its own. The third node goes on with it beside the cluster's new primary."""
    network = cluster.network
    old, rest, two, third = network.all
    server = cluster.servers[1]

    def split():
        if cluster.primary() is not server:
            sys.exit("the log is on another server")
        # Otherwise the old primary would end its service by itself after the time limit of a node.
        server.tell("CONFIG", "SET", "cluster-node-timeout", "60000")
        network.cut([old], [rest, two])

    def heal():
        Cluster.until(lambda: any(s.tell("ROLE").startswith("master") for s in cluster.servers[3:]))
        time.sleep(2)
        if not server.tell("ROLE").startswith("master") or "cluster_state:ok" not in server.tell("CLUSTER", "INFO"):
            sys.exit("the old primary did not go on beside the new one")
        network.heal([old], [rest, two])
        server.tell("CONFIG", "SET", "cluster-node-timeout", "2000")
        # Until then the third node is content with it, and nothing shows what the others do not know.
        Cluster.until(lambda: server.tell("ROLE").startswith("slave"))

    yield "cluster: split brain", split, heal


def on_hosts(count, make):
    """What `make` makes on so many hosts, given each: a server or a cluster, and the places of the nodes."""
    network = hosts.Hosts(count)
    try:
        redis, redis.places = make(*network.all)
        redis.network = network
        return redis
    except BaseException:
        network.end()
        raise


def cut_server():
    """A server on one host, for nodes on another one."""
    return on_hosts(2, lambda place, node: (Redis(host=place), [node] * 3))


def split_cluster():
    """A cluster whose second primary, which has the log, is on a host of its own."""
    return on_hosts(4, lambda old, rest, two, third: (
        Cluster([old if number == 1 else rest for number in range(6)]), [two, two, third]))


PLACES = {"server": (Redis, faults, False), "cluster": (Cluster, cluster_faults, False),
          "cut": (cut_server, cut_faults, True), "split": (split_cluster, split_faults, True)}


def settle(nodes, limit):
    """Waits until all nodes are connected and no change waits; the seconds, or None after the limit."""
    begin = time.monotonic()
    while time.monotonic() - begin < limit:
        if all(node.is_connected() for node in nodes):
            return time.monotonic() - begin
        time.sleep(0.02)
    return None


def run(program, folder, base, redis, all_faults, seconds, row):
    """The number of what must not be."""
    nodes, bad = [], 0
    try:
        places = getattr(redis, "places", [None] * 3)
        for place in {place for place in places if place}:
            # The origin is on each host's loopback, by the same port.
            with place.entered():
                servers.started(Handler, int(base.rsplit(":", 1)[1]))
        nodes = [Node(program, folder, base, redis, place) for place in places]
        for name, begin, end in all_faults(redis):
            if settle(nodes, 30) is None:
                sys.exit("the servers are not connected")
            before = [node.failures() for node in nodes]
            load = Load(nodes, base, seconds, name.replace(" ", "").strip("-"))
            load.begin()
            time.sleep(seconds / 5)
            begin()
            if end:
                time.sleep(DOWN)
                end()
            back = settle(nodes, 30)
            lost = load.end()
            asked = max(node.failures() - count for node, count in zip(nodes, before))
            print(row % (name, load.requests, load.failed, load.wrong, load.cut, "%.0f ms" % (load.slowest * 1e3),
                         "never" if back is None else "%.2f s" % back, load.purges, len(load.pending), lost, asked),
                  flush=True)
            for text in load.examples:
                print(f"  {text}", flush=True)
            bad += load.failed + load.wrong + load.cut + load.refused + lost + (back is None)
    finally:
        for node in nodes:
            node.process.kill()
        redis.kill()
        if hasattr(redis, "network"):
            redis.network.end()
    return bad


def main():
    if not (shutil.which("redis-server") or shutil.which("valkey-server")):
        print("skipped: redis-server is not installed")
        return 0
    program = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    folder = tempfile.mkdtemp(prefix="httpcache-fleet-nodes-")
    with open(os.open(f"{folder}/token", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(TOKEN)
    origin = servers.started(Handler)
    base = f"http://127.0.0.1:{origin.server_address[1]}"
    row = "%-31s %9s %7s %6s %4s %9s %11s %7s %8s %5s %6s"
    print(row % ("fault", "requests", "failed", "wrong", "cut", "slowest", "back after", "purges",
                 "pending", "lost", "asked"), flush=True)
    bad = 0
    try:
        for name in sys.argv[3:] or PLACES:
            place, all_faults, needs_hosts = PLACES[name]
            if needs_hosts and not hosts.are_possible():
                print(f"skipped: {name}: no right to make network namespaces")
                continue
            bad += run(program, folder, base, place(), all_faults, seconds, row)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("pending: answered with 202; lost: a pending purge that a server has not applied at the end;\n"
          "asked: look-ups and locks that failed at the server with the most of them")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
