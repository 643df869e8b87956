#!/usr/bin/env python3
"""Finds sentences that do not name their actor or their noun; see prose.sh.

Looks at comments of Swift and C, and at Markdown. Quotations ("…", “…”, lines that begin with >) and code (`…`,
fenced blocks) are left out: a specification may say "who".
"""
import os
import re
import sys

# Not checked yet. Clean a path, then delete its line.
UNCLEAN = [
]

FOLDERS = [
    "Benchmarks", "Fuzzing", "Simulation", "Sources", "Tests", "Tools", "Torture", "docs", "scripts",
]

ACTORLESS = re.compile(r"\b(who|whoever|whom|somebody|anybody|everybody|nobody)\b", re.IGNORECASE)
# Comments that begin so leave the reader to find the noun. A question may begin with "What".
OPENINGS = [
    (re.compile(r"^The same\b"), 'say what differs instead of "The same"'),
    (re.compile(r"^What\b(?![^.]*\?)"), 'begin with the noun instead of "What"'),
    (re.compile(r"^(As it|Those of|That of|Of (a|all|the|those|what|which))\b"), "begin with the noun"),
]
NO_NOUN = re.compile(r"\bthat (is|are) none\b")
QUOTED = re.compile(r'`[^`]*`|"[^"]*"|“[^”]*”')


def files():
    yield from (name for name in sorted(os.listdir(".")) if name.endswith(".md"))
    for folder in FOLDERS:
        for path, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = os.path.join(path, name)
                if name.endswith((".swift", ".c", ".h", ".md")) and not os.path.islink(file):
                    yield file


def is_listed(path):
    return any(path == entry or path.startswith(entry + "/") for entry in UNCLEAN)


def without_strings(line):
    """A line of code without its string literals, so that a "//" in one begins no comment."""
    return re.sub(r'"(\\.|[^"\\])*"', lambda found: " " * len(found[0]), line)


def comments(lines):
    """The paragraphs of comments: lists of (line number, text)."""
    paragraph, isBlock = [], False
    for number, line in enumerate(lines, 1):
        text = None
        if isBlock:
            text = line.split("*/")[0].strip(" *")
            isBlock = "*/" not in line
        else:
            start = re.search(r"(?<!:)(///?|/\*)", without_strings(line))
            if start:
                text = line[start.end():].strip()
                isBlock = start[0] == "/*" and "*/" not in text
                if line[:start.start()].strip() and paragraph:
                    yield paragraph
                    paragraph = []
        if text:
            paragraph.append((number, text))
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def prose(lines):
    """The paragraphs of Markdown, without fenced code and block quotations."""
    paragraph, isCode = [], False
    for number, line in enumerate(lines, 1):
        isFence = line.lstrip().startswith("```")
        isCode ^= isFence
        if isFence or isCode or not line.strip() or line.lstrip().startswith(">"):
            if paragraph:
                yield paragraph
            paragraph = []
        else:
            paragraph.append((number, line))
    if paragraph:
        yield paragraph


def findings(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    isMarkdown = path.endswith(".md")
    for paragraph in (prose if isMarkdown else comments)(lines):
        # A quotation may go on over lines, so look at the paragraph as a whole.
        text = "\n".join(line for _, line in paragraph)
        kept = QUOTED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        for (number, _), line in zip(paragraph, kept.split("\n")):
            for found in ACTORLESS.finditer(line):
                yield number, f'name the actor instead of "{found[0]}"'
            if NO_NOUN.search(line):
                yield number, 'say what the thing is not instead of "that is none"'
        if isMarkdown:
            continue
        for opening, problem in OPENINGS:
            if opening.match(paragraph[0][1]):
                yield paragraph[0][0], problem


def main():
    count = 0
    for path in files():
        if is_listed(path):
            continue
        for number, problem in findings(path):
            print(f"{path}:{number}: {problem}")
            count += 1
    missing = [entry for entry in UNCLEAN if not os.path.exists(entry)]
    for entry in missing:
        print(f"scripts/prose.py: {entry} is listed as not clean, and is not there")
    return 1 if count or missing else 0


sys.exit(main())
