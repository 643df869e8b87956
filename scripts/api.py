#!/usr/bin/env python3
"""The public declarations of each module, one a line, in docs/api/MODULE.txt.

Reads the modules that the tests have built in .build/debug: build them first. A type's line names the protocols
that the type conforms to; the line of a protocol's requirement without a default ends in "required". Declarations
for Apple's systems alone are not in these files.

Usage: api.py (--write | --check | --count)
"""

import argparse
import concurrent.futures
import difflib
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build/debug"
FOLDER = ROOT / "docs/api"
MODULES = [
    "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheSealing", "HTTPCacheDisk", "HTTPCaching",
    "HTTPCacheURLSession", "HTTPCacheNIO", "HTTPCacheAsyncHTTPClient", "HTTPCacheArchives", "HTTPCacheDownloads",
    "HTTPCacheHummingbird", "HTTPCacheImages", "HTTPCacheLogging", "HTTPCacheRedis", "HTTPCacheTesting",
    "HTTPCacheTestTraits", "HTTPCacheTracing", "HTTPCacheFaults"]
# Every type has them, or has them because it has another in the list.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}


def module_maps():
    """The maps of the C modules. Those of Swift modules are for Objective-C, and some are there twice."""
    yield from (ROOT / "Sources").glob("*/module.modulemap")
    for path in BUILD.glob("*.build/module.modulemap"):
        if not path.parent.name.endswith("-tool.build"):
            yield path
    yield from (ROOT / ".build/checkouts").glob("*/Sources/*/include/module.modulemap")


def graphs(module, triple, maps):
    if not (BUILD / f"Modules/{module}.swiftmodule").exists():
        sys.exit(f"{module} is not built in .build/debug; run make test first")
    tool = shutil.which("swift-symbolgraph-extract") or str(
        pathlib.Path(shutil.which("swiftc")).resolve().parent / "swift-symbolgraph-extract")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            tool, "-module-name", module, "-target", triple, "-I", str(BUILD / "Modules"),
            "-minimum-access-level", "public", "-skip-synthesized-members", "-skip-inherited-docs",
            "-emit-extension-block-symbols", "-output-dir", folder]
        for path in maps:
            command += ["-Xcc", f"-fmodule-map-file={path}"]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"{module}: no symbols:\n{ran.stderr[-2000:]}")
        for path in sorted(pathlib.Path(folder).glob("*.symbols.json")):
            yield json.loads(path.read_text(encoding="utf-8"))


def declaration(symbol):
    text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    return re.sub(r"\s+", " ", text).strip()


def lines(module, triple, maps):
    """The lines of a module's file."""
    found = set()
    for graph in graphs(module, triple, maps):
        own = {symbol["identifier"]["precise"]: symbol["names"]["title"] for symbol in graph["symbols"]}
        conformances, required, defaults = {}, set(), set()
        for relation in graph["relationships"]:
            if relation["kind"] == "conformsTo":
                name = own.get(relation["target"], relation.get("targetFallback"))
                # A protocol without a name here is not public.
                if name:
                    conformances.setdefault(relation["source"], set()).add(name.split(".")[-1])
            elif relation["kind"] == "requirementOf":
                required.add(relation["source"])
            elif relation["kind"] == "defaultImplementationOf":
                defaults.add((relation["source"], relation["target"]))
        # A default of a protocol that refines another one is none for types that conform to the other one alone.
        paths = {symbol["identifier"]["precise"]: symbol["pathComponents"][:-1] for symbol in graph["symbols"]}
        required -= {target for source, target in defaults if paths.get(source) == paths.get(target)}
        implementations = {source for source, _ in defaults}
        for symbol in graph["symbols"]:
            name = symbol["identifier"]["precise"]
            if symbol["kind"]["identifier"] == "swift.extension" or name in implementations:
                continue
            line = ".".join(symbol["pathComponents"]) + " | " + declaration(symbol)
            names = conformances.get(name, set()) - IMPLIED
            if names:
                line += " | " + ", ".join(sorted(names))
            if name in required:
                line += " | required"
            found.add(line)
    return sorted(found)


def compare(module, text):
    """Whether the file of a module says what the module declares; prints the difference."""
    path = FOLDER / f"{module}.txt"
    stored = path.read_text(encoding="utf-8") if path.exists() else ""
    changes = [
        line for line in difflib.unified_diff(stored.splitlines(), text.splitlines(), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))]
    if changes:
        print(f"the public declarations of {module} are not those of {path.relative_to(ROOT)}; make api writes it")
        print("\n".join(changes))
    return not changes


def main():
    parser = argparse.ArgumentParser()
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true")
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--count", action="store_true", help="print the number of declarations of each module")
    options = parser.parse_args()
    if platform.system() != "Linux":
        print("skipped: docs/api is made on Linux")
        return
    info = json.loads(subprocess.run(
        ["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout)
    maps = list(module_maps())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda module: lines(module, info["target"]["triple"], maps), MODULES))
    same = True
    for module, declarations in zip(MODULES, found):
        text = "".join(line + "\n" for line in declarations)
        if options.count:
            print(f"{len(declarations):5} {module}")
        elif options.write:
            FOLDER.mkdir(exist_ok=True)
            (FOLDER / f"{module}.txt").write_text(text, encoding="utf-8")
        else:
            same = compare(module, text) and same
    if options.count:
        print(f"{sum(map(len, found)):5} in all")
    sys.exit(0 if same else 1)


main()
