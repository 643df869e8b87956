#!/usr/bin/env python3
"""Checks docs/parity.md: every row of the series is there once, and every test it names exists.

The last column of a row names tests as `Suite/function`, or begins with "open: comes later" or with
"no test:" and the reason.

Usage: parity.py --check
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/parity.md"
SERIES = {"P": 22, "A": 14, "F": 11, "E": 35, "S": 10}
ROW = re.compile(r"\|\s*([A-Z]\d+)\s*\|(.*)\|\s*$")
NAMED = re.compile(r"`(\w+/\w+)`")
ANY_CODE = re.compile(r"`([^`]*)`")
TYPE = re.compile(
    r"\s*(?:@Suite(?:\(.*\))?\s*)?(?:(?:public|package|private|fileprivate|final|nonisolated)\s+)*"
    r"(?:struct|class|actor|enum|extension) (\w+)")
TEST = re.compile(r"\s*@Test\b")
FUNCTION = re.compile(r"\s*(?:@\w+(?:\([^)]*\))? )*(?:private |static )*func (\w+)\s*[(<]")


def tests():
    """The names of all tests, as Suite/function."""
    found = set()
    for folder in ("Tests", "Tools/Tests"):
        for path in sorted((ROOT / folder).rglob("*.swift")):
            types, awaits = {}, False
            for line in path.read_text(encoding="utf-8").splitlines():
                indent = len(line) - len(line.lstrip())
                if TYPE.match(line):
                    types = {left: name for left, name in types.items() if left < indent}
                    types[indent] = TYPE.match(line).group(1)
                awaits = awaits or bool(TEST.match(line))
                function = FUNCTION.match(line)
                if awaits and function:
                    awaits = False
                    suites = [left for left in types if left < indent]
                    if suites:
                        found.add(f"{types[max(suites)]}/{function.group(1)}")
    return found


def rows():
    for number, line in enumerate(DOCUMENT.read_text(encoding="utf-8").splitlines(), 1):
        row = ROW.match(line)
        if row:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row.group(2))]
            yield number, row.group(1), cells


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", required=True)
    parser.parse_args()
    problems, seen, held, later = [], set(), 0, 0
    known = tests()
    for number, name, cells in rows():
        place = f"docs/parity.md:{number}: {name}"
        if name in seen:
            problems.append(f"{place} is there twice")
        seen.add(name)
        if len(cells) != 3 or not all(cells):
            problems.append(f"{place}: a row has a number, what it is there, what it is here, tests")
            continue
        named = NAMED.findall(cells[2])
        problems += [f"{place}: there is no test {test}" for test in named if test not in known]
        problems += [f"{place}: `{code}` is no test" for code in ANY_CODE.findall(cells[2])
                     if not NAMED.fullmatch(f"`{code}`")]
        if named:
            held += 1
        elif cells[2].startswith("open: comes later"):
            later += 1
        elif not re.match(r"no test: \S", cells[2]):
            problems.append(f"{place} has neither a test nor a reason")
    wanted = {f"{letter}{number}" for letter, last in SERIES.items() for number in range(1, last + 1)}
    problems += [f"docs/parity.md has no row {name}" for name in sorted(wanted - seen)]
    problems += [f"docs/parity.md: {name} is in no series" for name in sorted(seen - wanted)]
    for problem in problems:
        print(problem)
    print(f"{len(seen)} rows, {held} held by tests, {later} open")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
