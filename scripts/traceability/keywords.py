"""Finds the key words of BCP 14, and "ought", in the sections of the RFCs that concern a cache."""

import os
import re

# What is gone through: every section under one of these numbers; "" is all of an RFC. Sections that
# only explain the key words themselves are left out.
SCOPE = {
    "9111": [""],
    "9110": [
        "6.5", "6.6.1", "7.6.1", "8.8", "9.2.3", "9.3.1", "9.3.2", "9.3.3", "12.5.5", "13", "14",
        "15.3.7", "15.4.5", "15.5.17",
    ],
    "5861": [""],
    "8246": [""],
    "9211": [""],
    "9213": [""],
    "9530": [""],
    "9875": [""],
    "10008": ["Caching"],
}
EXPLAINING = {"9111": "1.1", "5861": "2", "8246": "1.1", "9211": "1.1", "9213": "1.1",
              "9530": "1.4", "9875": "1.1"}
PLAIN = {"5861", "8246", "10008"}

HEADING = re.compile(r"#+ (?:Appendix )?([0-9A-Z]+(?:\.[0-9]+)*)\.? \S|#+ (\w+)")
WORDS = r"MUST NOT|MUST|SHALL NOT|SHALL|SHOULD NOT|SHOULD|REQUIRED|NOT RECOMMENDED|RECOMMENDED"
MARKED = re.compile(r"_(%s)\s*_|\b(ought not|ought)\b" % WORDS.replace(" ", r"\s+"))
UNMARKED = re.compile(r"\b(%s|ought not|ought)\b" % WORDS.replace(" ", r"\s+"))


def sections(path):
    """The sections of a text: their numbers (or first words) and their contents."""
    found = [("", [])]
    with open(path, encoding="utf-8") as file:
        for line in file:
            heading = HEADING.match(line)
            if heading:
                found.append((heading.group(1) or heading.group(2), []))
            else:
                found[-1][1].append(line)
    return [(number, "".join(lines)) for number, lines in found]


def in_scope(rfc, section):
    if section == EXPLAINING.get(rfc):
        return False
    return any(not part or section == part or section.startswith(part + ".") for part in SCOPE[rfc])


def keywords(directory):
    """For each section in scope that has any: its key words in order, with what stands before them."""
    found = {}
    for rfc in SCOPE:
        pattern = UNMARKED if rfc in PLAIN else MARKED
        for section, text in sections(os.path.join(directory, f"rfc{rfc}.txt")):
            if not in_scope(rfc, section):
                continue
            for match in pattern.finditer(text):
                word = " ".join(next(group for group in match.groups() if group).split())
                context = " ".join(text[max(0, match.start() - 60):match.end() + 60].split())
                found.setdefault((rfc, section), []).append((word, context))
    return found


if __name__ == "__main__":
    import sys

    for (rfc, section), words in keywords(sys.argv[1]).items():
        for number, (word, context) in enumerate(words, 1):
            print(f"{rfc}\t{section}\t{number}\t{word}\t{context}")
