#!/usr/bin/env python3
"""Kills `httpcache` in the middle of a download, and sees whether the next one goes on where it was.

resume.py PROGRAM [ROUNDS [SEED]]

Each round: an origin with an ETag sends 32 MiB at about 60 MB/s; `get`, or a client of `serve`, is under
way when the process is killed with SIGKILL at a random moment; then the same is asked for again. Told are the
bytes the origin sent in all: what was on disk is not sent again, and at most about 5 MiB are lost with the
process. Every body is compared with the origin's.
"""
import hashlib, os, random, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time
import urllib.request
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers

SIZE = 32 << 20
BLOCK = 1 << 16
CONTENT = b"".join(
    hashlib.sha256(str(n).encode()).digest() * (BLOCK // 32) for n in range(SIZE // BLOCK))
sent = 0
ranged = 0
lock = threading.Lock()


class Handler(servers.Handler):
    def do_GET(self):
        global sent, ranged
        tag = '"%s"' % self.path.strip("/")
        first = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and self.headers.get("If-Range") == tag:
            first = int(asked.group(1))
            with lock:
                ranged += 1
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{SIZE - 1}/{SIZE}")
        self.send_header("Content-Length", str(SIZE - first))
        self.send_header("ETag", tag)
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        try:
            for at in range(first, SIZE, BLOCK):
                piece = CONTENT[at:at + BLOCK]
                self.wfile.write(piece)
                with lock:
                    sent += len(piece)
                time.sleep(0.001)
        except OSError:
            self.close_connection = True


def serve(program, directory, origin, port):
    process = subprocess.Popen(
        [program, "serve", "--dir", directory, "--listen", f"127.0.0.1:{port}", "--upstream", origin],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.05)
    raise SystemExit("serve did not start")


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.read()


def quietly(work):
    try:
        work()
    except Exception:
        pass


def main():
    global sent, ranged
    program = os.path.realpath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 20261121)
    server = servers.started(Handler)
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    failed = 0
    again = []
    for number in range(rounds):
        directory = tempfile.mkdtemp()
        sent = ranged = 0
        after = chance.uniform(0.15, 0.6)
        way = ("get", "serve")[number % 2]
        if way == "get":
            target = os.path.join(directory, "file")
            command = [program, "get", "--dir", os.path.join(directory, "cache"), "-o", target,
                       f"{origin}/{number}"]
            first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(after)
            first.send_signal(signal.SIGKILL)
            first.wait()
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(target, "rb") as file:
                body = file.read()
        else:
            port = servers.free_port()
            process = serve(program, os.path.join(directory, "cache"), origin, port)
            url = f"http://127.0.0.1:{port}/{number}"
            threading.Thread(target=quietly, args=(lambda: fetch(url),), daemon=True).start()
            time.sleep(after)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process = serve(program, os.path.join(directory, "cache"), origin, port)
            body = fetch(url)
            process.terminate()
            process.wait()
        isRight = body == CONTENT
        failed += not isRight
        again.append(sent - SIZE)
        print(f"{way:5} killed after {after:.2f} s: body {'right' if isRight else 'WRONG'}, "
              f"{'continued' if ranged else 'from the start'}, sent twice: {sent - SIZE:,} bytes")
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{rounds - failed} of {rounds} bodies right; sent twice: {max(again):,} bytes at most")
    sys.exit(failed > 0)


main()
