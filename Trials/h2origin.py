#!/usr/bin/env python3
"""HTTP/2 to origins: h2origin.py HTTPCACHE

`serve` in front of nginx and of nghttpd, each over TLS: the version that nginx logs, equal bodies of 1 KiB and 20 MB, 200
requests at once, an origin that is restarted between two requests, and --no-upstream-http2. Needs nginx, nghttpd,
openssl and curl.
"""
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PORT, ORIGIN = 19301, 19302
NGINX = """daemon off; worker_processes 1; pid nginx.pid; error_log nginx.err; events {{ worker_connections 1024; }}
http {{ log_format v '$server_protocol $request_method $status'; access_log log v; keepalive_requests 50;
 client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
 server {{ listen 127.0.0.1:{origin} ssl http2; ssl_certificate certificate.pem; ssl_certificate_key key.pem;
  location / {{ root www; if ($request_method = POST) {{ return 204; }} }} }} }}
"""
passed = failed = 0


def check(name, is_right, detail=""):
    global passed, failed
    passed, failed = passed + bool(is_right), failed + (not is_right)
    print("ok  " if is_right else "FAIL", name, "" if is_right else detail)


def start(*command, folder):
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    return process


def stop(process):
    process.terminate()
    process.wait(30)


def get(path, *options):
    return subprocess.run(["curl", "-s", f"http://127.0.0.1:{PORT}{path}", *options], capture_output=True).stdout


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        folder.chmod(0o755)
        (folder / "www").mkdir()
        files = {"/small": os.urandom(1024), "/large": os.urandom(20_000_000)}
        for path, content in files.items():
            (folder / f"www{path}").write_bytes(content)
        (folder / "nginx.conf").write_text(NGINX.format(origin=ORIGIN))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{folder}/key.pem", "-out",
             f"{folder}/certificate.pem"], capture_output=True, check=True)
        origins = {
            "nginx": ["nginx", "-c", f"{folder}/nginx.conf", "-p", str(folder)],
            "nghttpd": ["nghttpd", "-a", "127.0.0.1", "-d", f"{folder}/www", str(ORIGIN), f"{folder}/key.pem",
                        f"{folder}/certificate.pem"],
        }
        serve = [program, "serve", "--listen", f"127.0.0.1:{PORT}", "--upstream", f"https://localhost:{ORIGIN}",
                 "--upstream-ca", f"{folder}/certificate.pem", "--access-log", "none", "--capacity", "0",
                 "--memory", "0"]
        for name, command in origins.items():
            origin, proxy = start(*command, folder=folder), start(*serve, folder=folder)
            for path, content in files.items():
                check(f"{name}: {len(content)} bytes", get(path) == content)
            with ThreadPoolExecutor(50) as pool:
                got = list(pool.map(lambda n: get(f"/small?{n}"), range(200)))
            right = sum(hashlib.sha1(one).digest() == hashlib.sha1(files["/small"]).digest() for one in got)
            check(f"{name}: {right} of 200 at once", right == 200)
            stop(origin)
            origin = start(*command, folder=folder)
            check(f"{name}: after a restart of the origin", get("/small") == files["/small"])
            if name == "nginx":
                get("/small", "-d", "x")
                lines = (folder / "log").read_text().split("\n")
                versions = {version: sum(line.startswith(version) for line in lines) for version in ("HTTP/1", "HTTP/2")}
                # The POST, and requests that nginx refused when it ended a connection after 50.
                check(f"nginx: requests by version: {versions}", 1 <= versions["HTTP/1"] <= 20 < versions["HTTP/2"])
                stop(proxy)
                proxy = start(*serve, "--no-upstream-http2", folder=folder)
                get("/small")
                check("nginx: --no-upstream-http2", "HTTP/1.1 GET 200" in (folder / "log").read_text())
            stop(origin)
            stop(proxy)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
