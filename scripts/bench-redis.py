#!/usr/bin/env python3
"""A tier on Redis beside redis-benchmark, in one run on one server.

    bench-redis.py PROGRAM [SECONDS]

PROGRAM is the built redis-tier-benchmark. Ratios, because both share the machine's processors with the server:
redis-benchmark asks and drops what comes, the tier decodes it. Bodies of 1 MiB pass a whole cache, and are compared with
those that a cache has on its disk.
"""
import os, shutil, signal, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Trials"))
import servers

PROGRAM = sys.argv[1]
SECONDS = sys.argv[2] if len(sys.argv) > 2 else "3"


def peer(port, clients, count, *command):
    """Commands a second that redis-benchmark reports."""
    text = subprocess.run(
        ["redis-benchmark", "-p", str(port), "-c", str(clients), "-n", str(count), "--csv", *command],
        check=True, capture_output=True, text=True).stdout
    return float(text.strip().splitlines()[-1].split('","')[1].strip('"'))


def main():
    for name in ("redis-server", "redis-benchmark", "redis-cli"):
        if not shutil.which(name):
            print("skipped: %s is not installed" % name)
            return
    folder = tempfile.mkdtemp(prefix="httpcache-redis-")
    port = servers.free_port()
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
         "--maxmemory", "64mb", "--dir", folder, "--logfile", "log"], cwd=folder)
    try:
        for _ in range(100):
            if subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True).returncode == 0:
                break
            time.sleep(0.05)

        def cli(*words, data=b""):
            subprocess.run(["redis-cli", "-p", str(port), "-x", *words], input=data, check=True, capture_output=True)

        cli("hset", "small", "v", data=b"x" * 4800)
        cli("hset", "large", "0", data=b"x" * 262052)
        peers = {
            "find 4 KiB": ("HGETALL of 4.8 KB, 50 clients", peer(port, 50, 100000, "hgetall", "small")),
            "find nothing, 50": ("HGETALL of nothing, 50 clients", peer(port, 50, 100000, "hgetall", "none")),
            "find nothing, 1": ("HGETALL of nothing, 1 client", peer(port, 1, 20000, "hgetall", "none")),
            "part 256 KiB": ("HGET of 256 KiB, 8 clients", peer(port, 8, 10000, "hget", "large", "0")),
        }
        rows = subprocess.run(
            [PROGRAM, "redis://127.0.0.1:%d" % port, SECONDS], check=True, capture_output=True, text=True).stdout
        rates = {name: int(rate) for name, rate in (row.split("\t") for row in rows.strip().splitlines())}
        disk = "body 1 MiB from the disk"
        peers["body 1 MiB from the tier"] = (disk, rates.pop(disk))
        print("| tier | a second | beside it | a second | ratio |\n|---|---:|---|---:|---:|")
        for name, rate in rates.items():
            text, other = peers[name]
            print("| %s | %d | %s | %d | %.2f |" % (name, rate, text, other, rate / other))
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()
