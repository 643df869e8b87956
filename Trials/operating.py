#!/usr/bin/env python3
"""An operator's hour with `httpcache serve`: operating.py HTTPCACHE

What a new operator does with the documents alone: a mirror for pip and apt from docs/samples/mirror.yaml under the
ExecStart of packaging/httpcache.service, checked, started, filled, scraped by Debian's Prometheus, purged, reloaded,
moved to TLS, and given another certificate. The archives are on loopback; only names of hosts, ports and folders of the
sample are changed. Needs apt-get, dpkg-deb, pip, curl, openssl and prometheus; run as root, it serves as `nobody`.
"""
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PORT, ADMIN, PROMETHEUS = 19201, 19202, 19203
TOKEN = "a-token-of-the-operator"
passed = failed = 0


def check(name, is_right, detail=""):
    global passed, failed
    passed, failed = passed + bool(is_right), failed + (not is_right)
    print("ok  " if is_right else "FAIL", name, "" if is_right else detail)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **options)


# ---------------------------------------------------------------- the archives
class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def archive(folder):
    for file in folder.rglob("*"):
        os.utime(file, (time.time() - 100 * 86400,) * 2)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def make_debian(folder):
    package = folder / "package/DEBIAN"
    package.mkdir(parents=True)
    (package / "control").write_text(
        "Package: evidence\nVersion: 1.0\nArchitecture: all\nMaintainer: N <n@example.com>\nDescription: evidence\n")
    (folder / "package/data").write_bytes(os.urandom(60_000))
    pool = folder / "debian/pool"
    pool.mkdir(parents=True)
    deb = pool / "evidence_1.0_all.deb"
    run("dpkg-deb", "--root-owner-group", "--build", folder / "package", deb)
    text = run("dpkg-deb", "-f", deb).stdout
    digest = hashlib.sha256(deb.read_bytes()).hexdigest()
    (folder / "debian/Packages").write_text(
        f"{text}Filename: pool/{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n\n")
    return deb


def make_python(folder):
    index = folder / "simple/evidence"
    index.mkdir(parents=True)
    wheel = index / "evidence-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("evidence/data", os.urandom(100_000))
        file.writestr("evidence-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evidence\nVersion: 1.0\n")
        file.writestr("evidence-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("evidence-1.0.dist-info/RECORD", "")
    (index / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    return wheel


# ----------------------------------------------------------------- the service
class Service:
    """The unit, as systemd would run it."""

    def __init__(self, program, work):
        self.work, self.process = work, None
        self.unit = (ROOT / "packaging/httpcache.service").read_text().replace("@PREFIX@/bin/httpcache", program)
        self.environment = {"PATH": os.environ["PATH"], "HTTPCACHE_OPTIONS": f"--config {work}/etc/serve.yaml"}
        for key, variable in [("CacheDirectory", "CACHE_DIRECTORY"), ("LogsDirectory", "LOGS_DIRECTORY")]:
            name = re.search(rf"^{key}=(.+)$", self.unit, re.M)
            if name:
                folder = work / variable / name[1]
                folder.mkdir(parents=True)
                self.own(folder)
                self.environment[variable] = str(folder)

    def own(self, path):
        if os.getuid() == 0:
            shutil.chown(path, "nobody", "nogroup")

    def command(self, key):
        text = re.search(rf"^{key}=(.+)$", self.unit, re.M)[1]
        values = {**self.environment, "MAINPID": str(self.process.pid if self.process else 0)}
        text = re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], ""), text)
        return shlex.split(text)

    def start(self):
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
        self.errors = open(self.work / "journal", "a+")
        self.process = subprocess.Popen(
            user + self.command("ExecStart"), env=self.environment, stderr=self.errors, umask=0o077)
        for _ in range(200):
            if socket.socket().connect_ex(("127.0.0.1", PORT)) == 0 or self.process.poll() is not None:
                break
            time.sleep(0.05)
        return self.process.poll() is None

    def reload(self):
        run(*self.command("ExecReload"))
        time.sleep(1)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def journal(self):
        return (self.work / "journal").read_text()


def sample(service, debian, python):
    """The sample with the operator's hosts, ports and folders."""
    text = (ROOT / "docs/samples/mirror.yaml").read_text()
    changes = {
        "https://deb.example.com/debian": f"{debian}/debian", "https://python.example.com": python,
        "0.0.0.0:8080": f"127.0.0.1:{PORT}", "/var/log/httpcache": service.environment.get("LOGS_DIRECTORY", "/nowhere"),
        re.search(r"^admin: (.+)$", text, re.M)[1]: f"127.0.0.1:{ADMIN}",
    }
    for old, new in changes.items():
        check(f"the sample has {old}", old in text)
        text = text.replace(old, new)
    return text.replace("allow-remote: true\n", "").replace("capacity: 50G", "capacity: 1G")


# ------------------------------------------------------------------ its clients
def apt(work, name, base, *options):
    lists = work / f"lists-{name}"
    (lists / "partial").mkdir(parents=True)
    folder = work / f"debs-{name}"
    folder.mkdir()
    (work / "sources.list").write_text(f"deb [trusted=yes allow-insecure=yes] {base}/debian ./\n")
    common = ["-q", "-o", f"Dir::Etc::sourcelist={work}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
              "-o", f"Dir::State::lists={lists}", "-o", "APT::Sandbox::User=root",
              *options]
    clean = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    update = run("apt-get", *common, "update", env=clean)
    download = run("apt-get", *common, "download", "evidence", cwd=folder, env=clean)
    files = list(folder.glob("*.deb"))
    return files[0].read_bytes() if files else (update.stderr + download.stderr)[-400:].encode()


def pip(work, name, base, *options):
    folder = work / f"wheels-{name}"
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith("PIP_") and not key.lower().endswith(("_proxy", "_ca_bundle", "ssl_cert_file"))}
    result = run("pip", "download", "--isolated", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "-i",
                 f"{base}/python/simple", "-d", folder, *options, "evidence", env=clean)
    files = list(folder.glob("*.whl"))
    return files[0].read_bytes() if files else result.stderr[-400:].encode()


def outcomes(service, since):
    """The outcome of each request in the access log from a line on."""
    log = Path(service.environment.get("LOGS_DIRECTORY", "/nowhere")) / "mirror.log"
    time.sleep(1)
    lines = log.read_text().splitlines() if log.exists() else []
    return [(json.loads(line)["target"], json.loads(line)["outcome"]) for line in lines[since:]]


def clients(service, work, base, deb, wheel, suffix="", apt_options=(), pip_options=()):
    for number, word in enumerate(["first", "second"]):
        since = len(outcomes(service, 0))
        got = apt(work, word + suffix, base, *apt_options)
        check(f"apt, {word} time{suffix}", got == deb.read_bytes(), got[-400:])
        got = pip(work, word + suffix, base, *pip_options)
        check(f"pip, {word} time{suffix}", got == wheel.read_bytes(), got[-400:])
        seen = outcomes(service, since)
        files = [outcome for target, outcome in seen if target.endswith((".deb", ".whl"))]
        # Responses for https are kept apart from those for http: the first time over TLS is a first time again.
        wanted = [["miss", "hit"][number]] * 2
        check(f"files in the log, {word} time{suffix}: {files}", files == wanted, seen)


# ------------------------------------------------------------------ the hour
def metrics(work):
    text = urllib.request.urlopen(f"http://127.0.0.1:{ADMIN}/metrics").read().decode()
    lint = run("promtool", "check", "metrics", input=text)
    check("promtool finds nothing wrong with the metrics", lint.returncode == 0, lint.stdout + lint.stderr)
    document = (ROOT / "docs/command.md").read_text()
    scrape = re.search(r"```yaml\n(scrape_configs:.*?)```", document, re.S)
    check("the documents have a configuration for Prometheus", scrape)
    address = re.search(r"127\.0\.0\.1:\d+", scrape[1])[0]
    (work / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n" + scrape[1].replace(address, f"127.0.0.1:{ADMIN}"))
    prometheus = subprocess.Popen(
        ["prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/tsdb",
         f"--web.listen-address=127.0.0.1:{PROMETHEUS}"], stderr=subprocess.DEVNULL)
    query = f"http://127.0.0.1:{PROMETHEUS}/api/v1/query?query=sum(httpcache_requests_total)by(outcome)"
    found = {}
    for _ in range(60):
        time.sleep(1)
        try:
            result = json.load(urllib.request.urlopen(query))["data"]["result"]
        except OSError:
            continue
        found = {one["metric"].get("outcome"): float(one["value"][1]) for one in result}
        if found.get("hit", 0) > 0:
            break
    prometheus.terminate()
    prometheus.wait()
    check(f"Prometheus has the requests by outcome: {found}", found.get("hit", 0) >= 2 and found.get("miss", 0) >= 2)


def purge(service, base, wheel):
    url = f"{base}/python/simple/evidence/{wheel.name}"
    refused = run("curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PURGE", url).stdout
    check(f"a purge without the token is refused: {refused}", refused in ("401", "403"))
    answer = run("curl", "-sk", "-X", "PURGE", "-H", f"Authorization: Bearer {TOKEN}", url).stdout
    check(f"a purge: {answer.strip()}", '"removed":1' in answer.replace(" ", ""))
    since = len(outcomes(service, 0))
    run("curl", "-sk", "-o", "/dev/null", url)
    check("after it the wheel is fetched again", outcomes(service, since)[-1:] and outcomes(service, since)[-1][1] == "miss")


def certificate(service, work, name):
    """A certificate of localhost, in the files that the configuration names."""
    folder = work / "etc"
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9", "-subj",
        f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out",
        folder / "certificate.pem")
    for file in ("key.pem", "certificate.pem"):
        service.own(folder / file)


def served_name():
    out = run("openssl", "s_client", "-connect", f"127.0.0.1:{PORT}", input="").stdout
    return (re.search(r"subject=.*CN ?= ?(\S+)", out) or [None, None])[1]


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        work.chmod(0o755)
        (work / "etc").mkdir()
        deb, wheel = make_debian(work / "archive"), make_python(work / "index")
        debian, python = archive(work / "archive"), archive(work / "index")
        service = Service(program, work)
        config = sample(service, debian, python)
        (work / "etc/serve.yaml").write_text(config.replace("capacity:", "capcity:"))
        result = run(program, "serve", "--config", work / "etc/serve.yaml", "--check")
        check("--check finds a mistyped key, with file and line", result.returncode != 0 and "serve.yaml, line" in result.stderr
              and "capcity" in result.stderr, result.stderr)
        (work / "etc/serve.yaml").write_text(config)
        result = run(program, "serve", "--config", work / "etc/serve.yaml", "--check")
        check("--check accepts the sample", result.returncode == 0, result.stderr)
        check("the service starts", service.start(), service.journal())
        base = f"http://127.0.0.1:{PORT}"
        clients(service, work, base, deb, wheel)
        metrics(work)

        (work / "etc/token").write_text(TOKEN + "\n")
        service.own(work / "etc/token")
        config += f"\npurge-token-file: {work}/etc/token\n"
        (work / "etc/serve.yaml").write_text(config)
        service.reload()
        check("a reload says that others can read the token, and what to do", "chmod 600" in service.journal(),
              service.journal())
        (work / "etc/token").chmod(0o600)
        service.reload()
        check("a reload says that the token needs a restart", "purge-token-file" in service.journal(), service.journal())
        check("the service ends without an error", service.stop() == 0)
        check("and starts again", service.start(), service.journal())
        purge(service, base, wheel)

        certificate(service, work, "first.internal")
        config += f"tls-certificate: {work}/etc/certificate.pem\ntls-key: {work}/etc/key.pem\n"
        (work / "etc/serve.yaml").write_text(config)
        service.stop()
        check("it starts with TLS", service.start(), service.journal())
        check("its certificate", served_name() == "first.internal", served_name())
        secure = f"https://127.0.0.1:{PORT}"
        bundle = work / "etc/certificate.pem"
        clients(service, work, secure, deb, wheel, " over TLS",
                ["-o", f"Acquire::https::CaInfo={bundle}"], ["--cert", str(bundle)])
        certificate(service, work, "second.internal")
        service.reload()
        check("after a reload the new certificate", served_name() == "second.internal", served_name())
        (work / "etc/key.pem").write_text("no key")
        service.reload()
        check("a key that cannot be used changes nothing, and is named",
              served_name() == "second.internal" and "key.pem" in service.journal())
        log = Path(service.environment.get("LOGS_DIRECTORY", "/nowhere")) / "mirror.log"
        log.rename(log.with_suffix(".1"))
        service.process.send_signal(signal.SIGUSR1)
        time.sleep(1)
        run("curl", "-sk", "-o", "/dev/null", f"{secure}/debian/Packages")
        check("after SIGUSR1 the log is a new file", len(outcomes(service, 0)) == 1)
        check("it ends without an error", service.stop() == 0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
