#!/usr/bin/env python3
"""Writes the table of statements and tests in docs/conformance.md, or checks it.

docs/statements.tsv has a row for each statement of an RFC that binds a cache. A comment directly above
a @Test names those that the test holds: `// holds 9111-4.2.4-2, 9111-5.2.2.2-1`. Statements without a
test, with the reason, are in docs/statements-without-test.tsv.

Usage: table.py [--check] [--rfc DIRECTORY]
"""

import argparse
import glob
import os
import re
import sys

import keywords

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
STATEMENTS = "docs/statements.tsv"
WITHOUT = "docs/statements-without-test.tsv"
DOCUMENT = "docs/conformance.md"
HOLDS = re.compile(r"\s*// holds (.+)$")
TEST = re.compile(r"\s*@Test\b")
FUNCTION = re.compile(r"\s*(?:@\w+(?:\([^)]*\))? )*(?:private |static )*func (`[^`]+`|\w+)\s*[(<]")
SUITE = re.compile(r"\s*(?:@Suite\b.*?)?(?:final )?(?:public )?(?:struct|class|actor|enum) (\w+)")
NAMES = {
    "not ours": "Not ours",
    "not held": "Not held",
    "pending": "Without a test so far",
}
problems = []


def rows(path, columns):
    found = []
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            cells = line.rstrip("\n").split("\t")
            if number == 1 or not line.strip():
                continue
            if len(cells) != columns or not all(cells):
                problems.append(f"{path}:{number}: {columns} columns are needed")
                continue
            found.append(cells)
    return found


def order(name):
    rfc, section, *rest = name.split("-")
    numbers = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in section.split(".")]
    return (0 if rfc == "9111" else 1 if rfc == "9110" else 2, int(rfc), numbers, [int(n) for n in rest])


def annotations(path):
    """The statements that the tests of a file hold: (ids, suite, test, line of the comment)."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    suites = {}
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if SUITE.match(line):
            suites[indent] = SUITE.match(line).group(1)
        held = HOLDS.match(line)
        if not held:
            continue
        # The type that the test is in begins further to the left; others may lie between.
        suite = next((suites[left] for left in sorted(suites, reverse=True) if left < indent), None)
        after = number + 1
        ids = re.split(r",\s*", held.group(1).strip().rstrip(","))
        while after < len(lines) and HOLDS.match(lines[after]):
            after += 1
        if after >= len(lines) or not TEST.match(lines[after]):
            problems.append(f"{path}:{number + 1}: no @Test follows")
            continue
        function = next((FUNCTION.match(text) for text in lines[after:after + 60] if FUNCTION.match(text)), None)
        if not function or not suite:
            problems.append(f"{path}:{number + 1}: no test function found")
            continue
        yield ids, suite, function.group(1).strip("`"), number + 1


def tests():
    held = {}
    for folder in ("Tests", "Tools/Tests"):
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.swift"), recursive=True)):
            path = os.path.relpath(path, ROOT)
            for ids, suite, name, line in annotations(path):
                for statement in ids:
                    held.setdefault(statement, []).append((suite, name, path, line))
    return held


def check_rows(statements, without, held):
    known = set()
    for name, ordinals, level, *_ in statements:
        if name in known:
            problems.append(f"{STATEMENTS}: {name} is there twice")
        known.add(name)
        if not re.fullmatch(r"\d+-[\w.]+-\d+", name):
            problems.append(f"{STATEMENTS}: {name} is no id")
        if (ordinals == "-") != (level == "rule"):
            problems.append(f"{STATEMENTS}: {name}: a rule is what has no key word")
        if name not in held:
            problems.append(f"{STATEMENTS}: no test holds {name}")
    for name, places in held.items():
        if name not in known:
            problems.append(f"{places[0][2]}:{places[0][3]}: {name} is no statement")
    for state, *_ in without:
        if state not in NAMES:
            problems.append(f"{WITHOUT}: {state} is none of {', '.join(NAMES)}")


def check_keywords(statements, without, directory):
    """Every key word of the texts has a row of its level, and every row a key word."""
    covered = {}
    for name, ordinals, level, *_ in statements:
        rfc, section, _ = name.split("-")
        for ordinal in ordinals.split(",") if ordinals != "-" else []:
            covered.setdefault((rfc, section, int(ordinal)), []).append(level)
    for _, section, ordinals, level, *_ in without:
        rfc, section = section.split("-")
        for ordinal in ordinals.split(","):
            covered.setdefault((rfc, section, int(ordinal)), []).append(level)
    if not os.path.isdir(directory):
        print(f"skipped: {directory} is not there, so the key words were not counted again")
        return
    for (rfc, section), words in keywords.keywords(directory).items():
        for number, (word, context) in enumerate(words, 1):
            levels = covered.pop((rfc, section, number), None)
            if levels is None:
                problems.append(f"RFC {rfc} §{section}: no row for {word} {number}: … {context} …")
            elif set(levels) != {word}:
                problems.append(f"RFC {rfc} §{section}: {word} {number} is recorded as {levels}")
    for rfc, section, number in covered:
        problems.append(f"RFC {rfc} §{section}: there is no key word {number}")


def cell(text):
    return text.replace("|", "\\|")


def shown(name):
    rfc, section, *_ = name.split("-")
    return f"RFC {rfc} §{section}" if section[0].isdigit() else f"RFC {rfc} “{section}”"


def statement_table(statements, held):
    lines = [f"{len(statements)} statements; each is held by the tests named with it.", ""]
    heading = None
    for name, _, level, bound, text in sorted(statements, key=lambda row: order(row[0])):
        if shown(name) .split(" §")[0].split(" “")[0] != heading:
            heading = shown(name).split(" §")[0].split(" “")[0]
            lines += ["", f"### {heading}", "", "| id | level | binds | statement | tests |", "|---|---|---|---|---|"]
        places = sorted(set(held.get(name, [])), key=lambda place: (place[2], place[3]))
        links = "<br>".join(f"[{suite}.{test}](../{path})" for suite, test, path, _ in places)
        lines.append(f"| {name} | {level} | {cell(bound)} | {cell(text)} | {links} |")
    return lines


def without_table(without, state):
    chosen = [row for row in without if row[0] == state]
    if not chosen:
        return ["None."]
    lines = ["| section | level | binds | why |", "|---|---|---|---|"]
    merged = []
    for _, section, _, level, bound, text in sorted(chosen, key=lambda row: order(row[1])):
        if merged and merged[-1][0] == section and merged[-1][2:] == [bound, text]:
            merged[-1][1] += f", {level}"
        else:
            merged.append([section, level, bound, text])
    return lines + [f"| {shown(s)} | {l} | {cell(b)} | {cell(t)} |" for s, l, b, t in merged]


def replaced(document, name, lines):
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    if document.count(start) != 1 or document.count(end) != 1:
        problems.append(f"{DOCUMENT}: the markers of {name} are missing")
        return document
    before, rest = document.split(start)
    return before + start + "\n" + "\n".join(lines).strip() + "\n\n" + end + rest.split(end)[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rfc", default=os.environ.get("RFC_TEXTS", os.path.join(ROOT, "../shared/rfc")))
    options = parser.parse_args()
    statements, without, held = rows(STATEMENTS, 5), rows(WITHOUT, 6), tests()
    check_rows(statements, without, held)
    check_keywords(statements, without, options.rfc)
    path = os.path.join(ROOT, DOCUMENT)
    with open(path, encoding="utf-8") as file:
        document = file.read()
    made = replaced(document, "statements", statement_table(statements, held))
    for state in NAMES:
        made = replaced(made, state, without_table(without, state))
    if options.check:
        if made != document:
            problems.append(f"{DOCUMENT} is out of date: run scripts/traceability/table.py")
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
    for problem in problems:
        print(problem)
    pending = sum(row[0] == "pending" for row in without)
    tests_named = len({place[:3] for places in held.values() for place in places})
    print(f"{len(statements)} statements, {tests_named} tests that hold them, {pending} without a test")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
