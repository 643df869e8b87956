#!/usr/bin/env python3
"""Fresh hits of caches of Python: peers.py NAME ORIGIN FOLDER prints a line `store|µs of 1 KiB|µs of 1 MiB`.

Each hit reads the whole body; the first request fills the cache.
"""
import sys
import time

SIZES = (1024, 1 << 20)


def measured(get, seconds=0.6):
    """Microseconds of one call, the median of five rounds."""
    get()
    start = time.perf_counter()
    get()
    once = max(time.perf_counter() - start, 1e-6)
    calls = max(3, int(seconds / 5 / once))
    rounds = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            get()
        rounds.append((time.perf_counter() - start) / calls * 1e6)
    return sorted(rounds)[2]


def hishel(folder):
    from hishel import SqliteStorage
    from hishel.httpx import CacheClient

    client = CacheClient(storage=SqliteStorage(database_path=folder + "/hishel.db"))
    return "SQLite", lambda url: client.get(url).content


def requests_cache(folder):
    import requests_cache

    session = requests_cache.CachedSession(folder + "/requests-cache", backend="sqlite", cache_control=True)
    return "SQLite", lambda url: session.get(url).content


def cachecontrol(folder):
    import requests
    from cachecontrol import CacheControl
    from cachecontrol.caches.file_cache import FileCache

    session = CacheControl(requests.Session(), cache=FileCache(folder + "/cachecontrol"))
    return "file", lambda url: session.get(url).content


def main():
    name, origin, folder = sys.argv[1:4]
    store, get = {"hishel": hishel, "requests-cache": requests_cache, "CacheControl": cachecontrol}[name](folder)
    figures = []
    for size in SIZES:
        url = f"{origin}/size/{size}/{name}"
        if len(get(url)) != size:
            sys.exit(f"{name}: a body of another length")
        figures.append(f"{measured(lambda: get(url)):.1f}")
    print("|".join([store] + figures))


main()
