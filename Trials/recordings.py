#!/usr/bin/env python3
"""Recordings of other programs as seeds: a WARC file of wget, a HAR file of headless Chromium, and a folder of plain
files. Each answers offline, and then, with two of ten resources changed, exactly those two are fetched whole.

    recordings.py HTTPCACHE [--keep FOLDER]

--keep copies the recordings of wget and Chromium into FOLDER: Tests/HTTPCacheURLSessionTests/Recordings has them.
Needs wget, Chromium with its driver (Debian: chromium, chromium-driver) and the Python package selenium; without
Chromium its part is left out.
"""
import base64, datetime, http.client, http.server, json, os, shutil, signal, struct, subprocess, sys, tempfile, threading
import urllib.parse, zlib

# The websocket.py of this folder is not the package that selenium imports.
del sys.path[0]

PROGRAM = os.path.abspath(sys.argv[1])
KEPT = os.path.abspath(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else None
RESULTS = {"ok": 0, "FAIL": 0}


def picture(shade):
    """A PNG file: Chromium forgets the bytes of a picture that it cannot decode."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes((x * y + shade) & 255 for x in range(90)) for y in range(60))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 90, 60, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


PAGES = {
    "/": ("text/html", b"<!doctype html><meta charset=utf-8><link rel=stylesheet href=/style.css><link rel=icon href=/i.png>"
          b"<script src=/a.js></script><script src=/b.js></script><img src=/p.png><img src=/q.png>"
          b"<script>for (const u of ['/data.json', '/list.json?page=2', '/text.txt']) fetch(u)</script>\xc3\xa9"),
    "/style.css": ("text/css", b"body { color: #123 }"),
    "/i.png": ("image/png", picture(1)),
    "/a.js": ("text/javascript; charset=utf-8", "document.title = 'é'".encode()),
    "/b.js": ("text/javascript", b"window.b = 1;\n" * 10000),
    "/p.png": ("image/png", picture(2)),
    "/q.png": ("image/png", picture(3)),
    "/data.json": ("application/json", '{"é": "\\u0001"}'.encode()),
    "/list.json?page=2": ("application/json", b"[1, 2]"),
    "/text.txt": ("text/plain", b"plain"),
}
CHANGED = {"/a.js", "/data.json"}


def check(name, holds, figure=""):
    RESULTS["ok" if holds else "FAIL"] += 1
    print("%-4s %s%s" % ("ok" if holds else "FAIL", name, ": %s" % figure if figure else ""), flush=True)


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    version, log = 1, []

    def do_GET(self):
        kind, body = PAGES.get(self.path, (None, b""))
        if kind is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        changed = self.path in CHANGED and Origin.version > 1
        body = body + b" " if changed else body
        tag = '"%d-%s"' % (2 if changed else 1, base64.b32encode(self.path.encode()).decode())
        same = self.headers.get("If-None-Match") == tag
        Origin.log.append((self.path, 304 if same else 200))
        self.send_response(304 if same else 200)
        self.send_header("ETag", tag)
        self.send_header("Cache-Control", "max-age=0")
        if not same:
            self.send_header("Content-Type", kind)
            # wget and Chromium must get chunks right, too.
            if self.path == "/b.js":
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for at in range(0, len(body), 1000):
                    piece = body[at:at + 1000]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")
                return
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not same:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def wget(base, folder):
    with open(os.path.join(folder, "urls"), "w") as file:
        file.writelines(base + page + "\n" for page in PAGES)
    # wget writes its arguments into the recording: names without folders.
    subprocess.run(["wget", "-q", "--warc-file=site", "-i", "urls", "-P", "wget", "--no-verbose"], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.path.join(folder, "site.warc.gz")


def chromium(base, folder):
    """A HAR file from the events of the DevTools protocol, as the browser's own export makes it of them."""
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    driver = webdriver.Chrome(options=options)
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        driver.get(base + "/")
        driver.execute_async_script("setTimeout(arguments[0], 1500)")
        requests, entries = {}, []
        for line in driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            event = message["params"]
            if message["method"] == "Network.requestWillBeSent":
                requests.setdefault(event["requestId"], {})["sent"] = event
            elif message["method"] == "Network.responseReceived":
                requests.setdefault(event["requestId"], {})["received"] = event
        for identifier, events in requests.items():
            if "received" not in events or "sent" not in events or not events["sent"]["request"]["url"].startswith(base):
                continue
            response, request = events["received"]["response"], events["sent"]["request"]
            try:
                body = driver.execute_cdp_cmd("Network.getResponseBody", {"requestId": identifier})
            except Exception:
                continue
            content = {"size": len(base64.b64decode(body["body"]) if body["base64Encoded"] else body["body"].encode()),
                       "mimeType": response["mimeType"], "text": body["body"]}
            if body["base64Encoded"]:
                content["encoding"] = "base64"
            started = datetime.datetime.fromtimestamp(events["sent"]["wallTime"], datetime.timezone.utc)
            entries.append({
                "_initiator": events["sent"].get("initiator"), "_resourceType": events["sent"].get("type"),
                "startedDateTime": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "time": 5.5,
                "request": {"method": request["method"], "url": request["url"], "httpVersion": "http/1.1",
                            "headers": [{"name": n, "value": v} for n, v in request["headers"].items()],
                            "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0},
                "response": {"status": response["status"], "statusText": response["statusText"], "httpVersion": "http/1.1",
                             "headers": [{"name": n, "value": v} for n, v in response["headers"].items()],
                             "cookies": [], "content": content, "redirectURL": "", "headersSize": -1, "bodySize": -1,
                             "_transferSize": response.get("encodedDataLength")},
                "cache": {}, "timings": {"blocked": -1, "dns": -1, "ssl": -1, "connect": -1, "send": 0.1, "wait": 5, "receive": 0.4}})
        path = os.path.join(folder, "site.har")
        with open(path, "w") as file:
            json.dump({"log": {"version": "1.2", "creator": {"name": "Chromium", "version": driver.capabilities["browserVersion"]},
                               "pages": [], "entries": entries}}, file)
        return path
    finally:
        driver.quit()


def plain(base, folder):
    root = os.path.join(folder, "PreCache")
    host = urllib.parse.urlsplit(base).netloc.replace(":", "_")
    for page, (_, body) in PAGES.items():
        name = host + ("/index.html" if page == "/" else page.replace("?", "_"))
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        with open(os.path.join(root, name), "wb") as file:
            file.write(body)
    return root


class Serve:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", *arguments], stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True)
        self.port = None
        for line in self.process.stderr:
            if "listening on" in line:
                self.port = int(line.rsplit(":", 1)[1])
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def get(self, page):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", page)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, body

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


def scenario(name, seed, base, folder):
    """`base` is the origin; a port without one stands for being offline."""
    directory = os.path.join(folder, "cache-" + name)
    Origin.version, Origin.log = 1, []
    bodies = {}
    SERVER.stopped = True
    serve = Serve("--upstream", base, "--seed", seed, "--dir", directory)
    for page, (_, body) in PAGES.items():
        bodies[page] = serve.get(page) == (200, body)
    check("%s: ten of ten offline, byte by byte" % name, all(bodies.values()), [p for p in bodies if not bodies[p]] or "")
    SERVER.stopped = False
    Origin.version, Origin.log = 2, []
    right = True
    for page, (_, body) in PAGES.items():
        right = serve.get(page) == (200, body + (b" " if page in CHANGED else b"")) and right
    whole = {page for page, status in Origin.log if status == 200}
    wanted = set(PAGES) if name == "folder" else CHANGED
    check("%s: online, the answers are new" % name, right)
    check("%s: %d fetched whole, the others validated" % (name, len(wanted)), whole == wanted and len(Origin.log) == 10,
          "%d whole, %d validated" % (len(whole), len(Origin.log) - len(whole)))
    serve.end()


class Switch(http.server.ThreadingHTTPServer):
    """An origin that can be cut off: while stopped, connections are closed at once."""
    stopped = False

    def process_request(self, request, address):
        if self.stopped:
            self.shutdown_request(request)
        else:
            super().process_request(request, address)


def main():
    global SERVER
    SERVER = Switch(("127.0.0.1", 0), Origin)
    threading.Thread(target=SERVER.serve_forever, daemon=True).start()
    base = "http://127.0.0.1:%d" % SERVER.server_address[1]
    folder = tempfile.mkdtemp(prefix="httpcache-recordings-")
    try:
        seeds = {"folder": plain(base, folder), "WARC of wget": wget(base, folder)}
        if shutil.which("chromium") and shutil.which("chromedriver"):
            seeds["HAR of Chromium"] = chromium(base, folder)
        for name, seed in seeds.items():
            if KEPT and os.path.isfile(seed):
                shutil.copy(seed, os.path.join(KEPT, "chromium.har" if seed.endswith(".har") else "wget.warc.gz"))
            scenario(name, seed, base, folder)
            packed = os.path.join(folder, "packed.hca")
            subprocess.run([PROGRAM, "pack", packed, "--from", seed], check=True, stdout=subprocess.DEVNULL)
            listed = subprocess.run([PROGRAM, "ls", "--seed", packed, "--json"], capture_output=True, text=True).stdout
            targets = {json.loads(line)["url"] for line in listed.splitlines() if line.startswith("{")}
            # A folder does not tell http and https apart.
            paths = {target.split("/", 3)[3] for target in targets}
            check("%s: packs into an archive" % name, {page[1:] for page in PAGES} <= paths, len(targets))
        har = os.path.join(folder, "made.har")
        serve = Serve("--upstream", base, "--record", har)
        for page in PAGES:
            serve.get(page)
        serve.end()
        SERVER.stopped = True
        serve = Serve("--upstream", base, "--replay", har)
        check("record and replay: ten of ten", all(serve.get(p) == (200, b + (b" " if p in CHANGED else b"")) for p, (_, b) in PAGES.items()))
        check("replay: another URL is an error", serve.get("/none")[0] == 502)
        serve.end()
    finally:
        shutil.rmtree(folder)
    print("%d of %d" % (RESULTS["ok"], sum(RESULTS.values())))
    sys.exit(1 if RESULTS["FAIL"] else 0)


main()
