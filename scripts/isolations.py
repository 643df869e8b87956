#!/usr/bin/env python3
"""Finds public asynchronous functions that take a closure and that no IsolationTests.swift calls.

Such a test calls the function from the main actor, from a class of the main actor, from an actor and from a nonisolated
function: only the compiler tells whether each of them can. Reads docs/api.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def declarations():
    """Module, name and declaration of each line."""
    for path in sorted((ROOT / "docs/api").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            name, declaration = line.split(" | ")[:2]
            yield path.stem, name, declaration


def signature(declaration):
    """The parameters of a function or initialiser, and the text after them; None for anything else."""
    start = re.search(r"\b(?:func [^(]+|init\??(?:<[^>]*>)?)\(", declaration)
    if start is None:
        return None
    depth, end = 1, start.end()
    while depth > 0 and end < len(declaration):
        depth += {"(": 1, ")": -1}.get(declaration[end], 0)
        end += 1
    return declaration[start.end():end - 1], declaration[end:]


def main():
    tests = [path.read_text(encoding="utf-8") for folder in ("Tests", "Tools/Tests")
             for path in (ROOT / folder).rglob("IsolationTests.swift")]
    missing = []
    for module, name, declaration in declarations():
        found = signature(declaration)
        if found is None or "->" not in found[0] or not re.match(r"\s*async\b", found[1]):
            continue
        *types, function = name.split("(")[0].split(".")
        words = [rf"\bimport {module}\b", rf"\.{function}\b", *(rf"\b{part}\b" for part in types[-1:])]
        if not any(all(re.search(word, text) for word in words) for text in tests):
            missing.append(f"{name} of {module}: no IsolationTests.swift calls it")
    print("\n".join(missing), end="\n" if missing else "")
    sys.exit(1 if missing else 0)


main()
