#!/usr/bin/env python3
"""Locks that event loops of `httpcache serve` wait for: contention.py HTTPCACHE [LOOPS [SECONDS]]

Runs `serve` with 8 event loops, however many processors there are, under hits, responses that are passed on, misses that
are stored, and hits over HTTP/2. A lock that nothing holds makes no system call, so strace tells each wait. Prints the
waits for locks per request, those for the lock that is waited for most, and, from a second run with stacks, which slow
everything, the functions that waited. Fails if a lock is waited for in more than 1 % of requests. Needs nginx, wrk, h2load,
and strace with stacks.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import nginx
from servers import free_port

CONNECTIONS, LIMIT = 64, 0.01
NEW = "local n, first = 0, '%s'\nfunction request() n = n + 1; return wrk.format('GET', '/1k?' .. first .. n) end\n"
# Waits of Swift's Mutex, and of pthread_mutex_lock; threads with nothing to do wait in other ways.
WAIT = re.compile(r"futex\((0x[0-9a-f]+), (?:FUTEX_LOCK_PI|FUTEX_WAIT_PRIVATE, 2, NULL)")
FRAME = re.compile(r"^ > \S+?\((.*)\+0x[0-9a-f]+\)")
PLUMBING = re.compile(r"futex|lll_lock|pthread_mutex|Synchronization|MutexHandle|NIOLock|LockStorage|syscall")


def load(row, port, seconds, folder):
    """The number of requests that were answered."""
    url = f"http://127.0.0.1:{port}/{'no/' if row == 'no-store' else ''}1k"
    if row == "HTTP/2 hit":
        command = ["h2load", "-t1", "-c16", "-m16", f"-D{seconds}", url]
    else:
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", url]
    if row == "miss that is stored":
        (folder / "new.lua").write_text(NEW % time.time_ns())
        command[1:1] = ["-s", str(folder / "new.lua")]
    out = subprocess.run(command, capture_output=True, text=True).stdout
    return int(re.search(r"(\d+) (?:requests in|succeeded)", out).group(1))


def traced(options, row, serve, port, seconds, folder):
    """The trace of system calls for locks under a load, and the number of requests."""
    trace = folder / "trace"
    trace.unlink(missing_ok=True)
    tracer = subprocess.Popen(
        ["strace", "-f", "-qq", "-e", "trace=futex", "-e", "signal=none", "-o", str(trace), "-p", str(serve.pid)] + options,
        stderr=subprocess.DEVNULL)
    time.sleep(1)
    count = load(row, port, seconds, folder)
    tracer.terminate()
    tracer.wait()
    return trace.read_text(errors="replace").splitlines(), count


def names(lines):
    """How often each function waited for a lock. The stack of a call stands behind the line with its result."""
    found, frames, waiting = Counter(), None, set()
    for line in lines + ["end"]:
        frame = FRAME.match(line)
        if frame:
            if frames is not None:
                frames.append(frame.group(1))
            continue
        if frames:
            found[next((f for f in frames if not PLUMBING.search(f)), frames[-1])] += 1
        frames, thread = None, line.split(" ", 1)[0]
        if WAIT.search(line) and line.endswith("<unfinished ...>"):
            waiting.add(thread)
        elif WAIT.search(line) or "resumed>" in line and thread in waiting:
            waiting.discard(thread)
            frames = []
    return found


def demangled(name):
    return subprocess.run(["swift", "demangle", "--simplified", name.split("+")[0]], capture_output=True, text=True).stdout.split(" ---> ")[-1].strip()


def main():
    command = os.path.abspath(sys.argv[1])
    loops = sys.argv[2] if len(sys.argv) > 2 else "8"
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        origin, port = free_port(), free_port()
        commands = [
            nginx.origin(folder, origin, {"1k": 1024}),
            [command, "serve", "--upstream", f"http://127.0.0.1:{origin}", "--listen", f"127.0.0.1:{port}", "--h2c",
             "--access-log", "none", "--event-loops", loops, "--dir", str(folder / "cache")]]
        processes = []
        try:
            for words in commands:
                processes.append(subprocess.Popen(words, stderr=subprocess.DEVNULL))
            serve = processes[1]
            time.sleep(2)
            print("| requests | number | waits for locks, % of requests | for one lock, % | functions that waited |")
            print("|---|---:|---:|---:|---|")
            for row in ["hit", "no-store", "miss that is stored", "HTTP/2 hit"]:
                load(row, port, 1, folder)
                lines, count = traced([], row, serve, port, seconds, folder)
                locks = Counter(wait.group(1) for wait in map(WAIT.search, lines) if wait)
                most = max(locks.values(), default=0)
                worst = max(worst, most / max(count, 1))
                found = names(traced(["-k"], row, serve, port, seconds, folder)[0])
                functions = ", ".join(f"{demangled(name)} ({number})" for name, number in found.most_common(4)) or "none"
                print(f"| {row} | {count:,} | {locks.total() / max(count, 1):.2%} | {most / max(count, 1):.2%} | {functions} |",
                      flush=True)
        finally:
            for process in processes:
                process.terminate()
                process.wait()
    print(f"{int(worst <= LIMIT)} passed, {int(worst > LIMIT)} failed")
    sys.exit(worst > LIMIT)


main()
