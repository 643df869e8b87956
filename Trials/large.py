#!/usr/bin/env python3
"""Fetches 1.4 GiB with default settings, interrupted and killed on the way, and compares every byte.

large.py PROGRAM [LENGTH]

The body is over the default limit of the cache, so `get -o` continues from its part file. The origin sends
about 200 MB/s. Told are each end, the peak of resident memory (VmHWM), and the bytes that the origin sent
in all: each byte comes once, but for what was under way.
"""
import hashlib, os, re, shutil, signal, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers

LENGTH = int(sys.argv[2]) if len(sys.argv) > 2 else 1_503_238_553
PIECE = 1 << 20
REST = hashlib.shake_256(b"rest").digest(PIECE - 8)
sent = 0
lock = threading.Lock()


def piece(number):
    """Bytes that differ from piece to piece; nothing of the file is kept."""
    return number.to_bytes(8, "big") + REST


class Handler(servers.Handler):
    def do_GET(self):
        global sent
        first = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and self.headers.get("If-Range") == '"large"':
            first = int(asked.group(1))
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{LENGTH - 1}/{LENGTH}")
        self.send_header("Content-Length", str(LENGTH - first))
        self.send_header("ETag", '"large"')
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        at = first
        try:
            while at < LENGTH:
                part = piece(at // PIECE)[at % PIECE:][:LENGTH - at]
                self.wfile.write(part)
                at += len(part)
                with lock:
                    sent += len(part)
                time.sleep(0.005)
        except OSError:
            self.close_connection = True


def peak(process):
    try:
        with open(f"/proc/{process.pid}/status") as status:
            return next((line.split()[1] for line in status if line.startswith("VmHWM")), "0")
    except OSError:
        return "0"


def run(command, number, seconds):
    """Ends the command by a signal after some seconds, or lets it end where there is none."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    memory = "0"
    start = time.monotonic()
    while process.poll() is None:
        memory = max(memory, peak(process), key=int)
        if number and time.monotonic() - start > seconds:
            process.send_signal(number)
            number = None
        time.sleep(0.05)
    errors = process.stderr.read().strip().splitlines()
    print(f"status {process.returncode}, VmHWM {int(memory) // 1024} MiB: {errors[-1] if errors else ''}")


def is_right(path):
    at = 0
    with open(path, "rb") as file:
        while at < LENGTH:
            expected = piece(at // PIECE)[:LENGTH - at]
            if file.read(len(expected)) != expected:
                return False
            at += len(expected)
        return not file.read(1)


def main():
    server = servers.started(Handler)
    directory = tempfile.mkdtemp()
    target = os.path.join(directory, "large.iso")
    command = [os.path.realpath(sys.argv[1]), "get", "--dir", os.path.join(directory, "cache"), "-o", target,
               f"http://127.0.0.1:{server.server_address[1]}/large.iso"]
    for number, seconds in [(signal.SIGINT, 2), (signal.SIGKILL, 1.5), (signal.SIGTERM, 1.5), (None, 0)]:
        run(command, number, seconds)
    right = is_right(target)
    left = sorted(os.listdir(directory))
    print(f"{LENGTH:,} bytes {'right' if right else 'WRONG'}; sent twice: {sent - LENGTH:,}; left: {', '.join(left)}")
    shutil.rmtree(directory)
    sys.exit(not right)


main()
