#!/usr/bin/env python3
"""The dashboard of `serve --admin` in headless Chromium, driven by Selenium, over loopback only.

    dashboard.py HTTPCACHE [FOLDER]

Needs Chromium with its driver (Debian: chromium, chromium-driver) and the Python package selenium. With FOLDER, keeps
screenshots there: wide, dark, and as narrow as a phone.
"""
import http.server, os, re, shutil, subprocess, sys, tempfile, threading, time, urllib.request

# The websocket.py of this folder is not the package that selenium imports.
del sys.path[0]

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PROGRAM, FOLDER = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
TOKEN = "a-token-of-24-characters"
RESULTS = {"ok": 0, "FAIL": 0}


def check(name, holds, figure=""):
    RESULTS["ok" if holds else "FAIL"] += 1
    print("%-4s %s%s" % ("ok" if holds else "FAIL", name, ": %s" % figure if figure else ""), flush=True)


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/slow"):
            time.sleep(0.3)
        body = b"x" * 5000
        self.send_response(200)
        private = self.path.startswith("/private")
        self.send_header("Cache-Control", "no-store" if private else "max-age=600")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def until(condition, seconds=15):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    return condition()


def main():
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    upstream = "http://127.0.0.1:%d" % origin.server_address[1]
    folder = tempfile.mkdtemp(prefix="httpcache-dashboard-")
    token = os.path.join(folder, "token")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(TOKEN)
    serve = subprocess.Popen(
        [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--dir", os.path.join(folder, "cache"),
         "--admin", "127.0.0.1:0", "--admin-token-file", token, "--access-log", "none"],
        stderr=subprocess.PIPE, text=True)
    ports = [int(re.search(r":(\d+)$", serve.stderr.readline().strip()).group(1)) for _ in range(2)]
    proxy, admin = ("http://127.0.0.1:%d" % port for port in ports)

    def get(path):
        urllib.request.urlopen(proxy + path).read()

    running = True

    def traffic():
        number = 0
        while running:
            get("/news/%d" % (number % 40))
            if number % 10 == 0:
                get("/private/%d" % (number % 30))
            if number % 50 == 0:
                get("/slow")
            number += 1
            time.sleep(0.005)

    threading.Thread(target=traffic, daemon=True).start()
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1100,1050"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Selenium would ask a host outside for the path of the driver.
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        inspect(browser, admin, upstream)
    finally:
        running = False
        browser.quit()
        serve.terminate()
        serve.wait()
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (RESULTS["ok"], RESULTS["FAIL"]))
    return RESULTS["FAIL"] > 0


def inspect(browser, admin, upstream):
    text = lambda name: browser.find_element(By.ID, name).text
    # In one call, because the page makes its rows anew every few seconds.
    rows = lambda name: browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(row => row.innerText)", "#%s tbody tr" % name)
    browser.get(admin + "/")
    check("without the token there is a form, and no figure",
          until(lambda: browser.find_element(By.ID, "token").is_displayed()) and text("requests") == "–")
    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    check("the only error so far is that of the refused request", all("401" in error for error in errors), errors[:1])
    # By keyboard: the field has the focus.
    browser.switch_to.active_element.send_keys(TOKEN, Keys.ENTER)
    check("with the token it is live", until(lambda: text("state") == "live"))
    first = until(lambda: text("requests") not in ("–", "0") and text("requests"))
    check("requests per second are shown", bool(first), first)
    seen = set()
    until(lambda: seen.add(text("requests")) or len(seen) > 2)
    check("the figures move with the traffic", len(seen) > 2, sorted(seen))
    ratio = until(lambda: text("ratio") != "–" and float(text("ratio").split()[0]) > 50 and text("ratio"))
    check("the hit ratio", bool(ratio), ratio)
    check("latency", until(lambda: text("p99") != "–"), "%s, %s" % (text("p50"), text("p99")))
    missed = until(lambda: [row for row in rows("missed") if "/private/" in row])
    check("missed URLs have the reason why they were not stored", missed and "no-store" in missed[0], missed[:1])
    browser.find_element(By.CSS_SELECTOR, "#order option[value=time]").click()
    slowest = until(lambda: rows("missed") and "/slow" in rows("missed")[0] and rows("missed")[0])
    check("the slowest first", bool(slowest), slowest)
    browser.find_element(By.ID, "count-hosts").click()
    hosts = until(lambda: rows("hosts"))
    check("bytes by host", hosts and upstream.split("//")[1] in hosts[0], hosts)
    browser.find_element(By.ID, "prefix").send_keys(upstream + "/news/3", Keys.ENTER)
    found = until(lambda: rows("entries") and all("/news/3" in row for row in rows("entries")) and len(rows("entries")))
    check("entries are found by the begin of their URL", found == 11, found)
    browser.find_element(By.CSS_SELECTOR, "#entries button[aria-label^=Explain]").send_keys(Keys.ENTER)
    steps = until(lambda: [step.text for step in browser.find_elements(By.CSS_SELECTOR, "#explanation-steps dd") if step.text])
    check("an entry is explained, by keyboard", any("max-age=600" in step for step in steps), steps[:1])
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    browser.find_element(By.CSS_SELECTOR, "#entries button[aria-label^=Purge]").click()
    purged = until(lambda: "removed" in text("entries-state") and text("entries-state"))
    check("an entry is purged", purged == "1 removed", purged)
    browser.find_element(By.ID, "purge-prefix").click()
    browser.switch_to.alert.accept()
    purged = until(lambda: text("entries-state") not in ("", "1 removed") and text("entries-state"))
    check("a prefix is purged", bool(re.fullmatch(r"\d+ removed", purged or "")), purged)
    screenshots(browser)
    width = browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    check("on a phone nothing is wider than the screen", width <= 0, "%d px" % width)
    unnamed = browser.execute_script(
        "return [...document.querySelectorAll('input, select, meter, button')].filter(one => "
        "!(one.labels && one.labels.length) && !one.textContent.trim() && !one.ariaLabel).map(one => one.outerHTML)")
    check("each control has a name", not unnamed, unnamed)
    severe = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "401" not in entry["message"]]
    check("no error on the console", not severe, severe)
    urls = set(re.findall(r'"url":"(https?://[^/"]+)', " ".join(entry["message"] for entry in browser.get_log("performance"))))
    check("no request to another host", urls <= {admin}, sorted(urls))


def screenshots(browser):
    def keep(name):
        if FOLDER:
            os.makedirs(FOLDER, exist_ok=True)
            browser.execute_script("scrollTo(0, 0)")
            browser.save_screenshot(os.path.join(FOLDER, name + ".png"))

    time.sleep(60 if FOLDER else 2)
    keep("dashboard")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    keep("dashboard-dark")
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
    time.sleep(0.5)
    keep("dashboard-phone")


if __name__ == "__main__":
    sys.exit(main())
