#!/usr/bin/env python3
"""What a fleet of servers costs and saves, with a real Redis server.

    fleetcosts.py PROGRAM [PART...]

PROGRAM is the built httpcache. The parts, all of them unless given:
misses  64 requests at once over three servers for what none has: the requests that the origin gets
group   a purge of a group of 10,000 entries over three servers: how long until each server gives the new version, and
        until the purge is answered; needs h2load
nodes   purges with 50 servers: how long until all have confirmed it
round   the commands that requests send to Redis for responses that cannot be shared
hits    the instructions of an answer from memory with a fleet and without; needs valgrind and h2load
"""
import json, os, shutil, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet, servers, valgrind

GROUP, ROUNDS = 10_000, 30
counts, version, lock = {}, [1], threading.Lock()
UNSHAREABLE = {
    "no-store": {"Cache-Control": "no-store"}, "private": {"Cache-Control": "private, max-age=60"},
    "no-cache": {"Cache-Control": "no-cache"}, "vary": {"Cache-Control": "max-age=60", "Vary": "*"},
    "cookie": {"Cache-Control": "max-age=60", "Set-Cookie": "a=1"},
}


class Origin(servers.Handler):
    # Head and body are two writes: the second would wait for the acknowledgement of the first.
    disable_nagle_algorithm = True

    def do_GET(self):
        with lock:
            counts[self.path] = counts.get(self.path, 0) + 1
        if self.path.startswith("/misses/"):
            time.sleep(0.2)
        data = b"%d\n" % version[0]
        self.send_response(200)
        fields = UNSHAREABLE.get(self.path.split("/")[1], {"Cache-Control": "max-age=3600", "Cache-Groups": '"all"'})
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET


def together(tasks):
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def percentiles(times):
    ordered = sorted(times)
    at = lambda part: ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1e3
    return f"median {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms, most {ordered[-1] * 1e3:.1f} ms of {len(ordered)}"


def misses(nodes, base, redis):
    before, spread = [n.failures() for n in nodes], {}
    for number in range(50):
        path = f"/misses/{number}"
        together([lambda n=n: nodes[n % 3].page(path) for n in range(64)])
        spread[counts[path]] = spread.get(counts[path], 0) + 1
    failed = sum(n.failures() for n in nodes) - sum(before)
    print(f"misses: 64 at once over 3 servers, 50 times: requests to the origin, and how often: {spread}; "
          f"look-ups and locks that failed: {failed}")


def fill(nodes, folder):
    """Asks each node for each entry of the group, over four connections."""
    lists = [f"{folder}/{part}.txt" for part in range(4)]
    for part, path in enumerate(lists):
        with open(path, "w") as file:
            file.writelines(f"http://{fleet.HOST}/group/{number}\n" for number in range(part, GROUP, 4))
    for node in nodes:
        fillers = [subprocess.Popen(
            ["h2load", "--h1", "-c1", f"-n{GROUP // 4}", "-i", path, f"--connect-to=127.0.0.1:{node.port}"],
            stdout=subprocess.PIPE, text=True) for path in lists]
        for filler in fillers:
            assert f"{GROUP // 4} succeeded" in filler.communicate()[0]


def group(nodes, base, redis):
    if not shutil.which("h2load"):
        print("group: skipped: h2load is not installed")
        return
    seen, told, removed = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            fill(nodes, folder)
            version[0] += 1
            begin, last = time.monotonic(), []

            def watch(node):
                while int(node.page(f"/group/{number}")[1]) != version[0]:
                    time.sleep(0.001)
                last.append(time.monotonic() - begin)

            def purge():
                status, text = nodes[0].tell("POST", f"/purge?group=all&origin={base}")
                told.append((time.monotonic() - begin, status))
                removed.append(json.loads(text).get("removed"))
            together([purge] + [lambda n=n: watch(n) for n in nodes])
            seen.append(max(last))
    print(f"group: a purge of {GROUP} entries, the new version on {len(nodes)} servers after: {percentiles(seen)}; "
          f"answered after: {percentiles([t for t, _ in told])}; answered with 202: {sum(s != 200 for _, s in told)}; "
          f"removed on the asked server: {min(removed)} to {max(removed)}")


def many(nodes, base, redis):
    told = []
    for number in range(200):
        nodes[number % len(nodes)].page("/x")
        begin = time.monotonic()
        status, _ = nodes[number % len(nodes)].tell("POST", f"/purge?url={base}/x")
        told.append((time.monotonic() - begin, status))
    print(f"nodes: a purge with {len(nodes)} servers, answered after: {percentiles([t for t, _ in told])}; "
          f"answered with 202: {sum(s != 200 for _, s in told)}")


def round_trips(nodes, base, redis):
    for name in UNSHAREABLE:
        for method in ("GET", "HEAD"):
            watch = subprocess.Popen(["redis-cli", "-p", str(redis.port), "monitor"], stdout=subprocess.PIPE, text=True)
            watch.stdout.readline()
            sent = []
            reader = threading.Thread(target=lambda: sent.extend(line for line in watch.stdout if ":i:" in line))
            reader.start()
            marks = []
            for number in range(101):
                fleet.ask(nodes[0].port, method, f"/{name}/{method}", {"Host": fleet.HOST})
                if number == 0:
                    time.sleep(0.3)
                    marks.append(len(sent))
            time.sleep(0.3)
            watch.kill()
            reader.join()
            print(f"round: {method} of {name}: commands for the first request {marks[0]}, "
                  f"for 100 more {len(sent) - marks[0]}", flush=True)


def hits(nodes, base, redis):
    if not (shutil.which("valgrind") and shutil.which("h2load")):
        print("hits: skipped: valgrind or h2load is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        program, figures = valgrind.stripped(sys.argv[1], folder), {}

        def instructions(count, options):
            return valgrind.counted(valgrind.INSTRUCTIONS, program, base, options, lambda port: subprocess.run(
                ["h2load", "--h1", "-c1", f"-n{count}", f"http://127.0.0.1:{port}/hits"], check=True,
                stdout=subprocess.DEVNULL))
        for name, options in {"alone": [], "in a fleet": ["--fleet", redis.address]}.items():
            few, many = [instructions(count, options) for count in (2_000, 22_000)]
            figures[name] = (many - few) // 20_000
        print(f"hits: instructions of an answer from memory: {figures}")


PARTS = {"misses": (misses, 3), "group": (group, 3), "nodes": (many, 50), "round": (round_trips, 1), "hits": (hits, 0)}


def main():
    if not shutil.which("redis-server"):
        print("skipped: redis-server is not installed")
        return
    folder = tempfile.mkdtemp(prefix="httpcache-fleet-nodes-")
    with open(os.open(f"{folder}/token", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(fleet.TOKEN)
    base = f"http://127.0.0.1:{servers.started(Origin).server_address[1]}"
    try:
        for name in sys.argv[2:] or PARTS:
            part, count = PARTS[name]
            redis, nodes = fleet.Redis(), []
            try:
                nodes = [fleet.Node(sys.argv[1], folder, base, redis) for _ in range(count)]
                fleet.settle(nodes, 30)
                # Purges wait for the nodes that Redis knows of.
                fleet.Cluster.until(lambda: redis.tell("HLEN", "hc1:default:{default}:nodes") == str(count))
                part(nodes, base, redis)
            finally:
                for node in nodes:
                    node.process.kill()
                redis.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
