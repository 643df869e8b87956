#!/usr/bin/env python3
"""Writes the Swift of the documentation into a folder, which is a target of Tools, so that it is compiled.

Each document becomes one file, in `Guides` for README and docs, in `Modules` for the pages of DocC:
its blocks fenced as `swift`, in order, are one program. A line `<!-- another program -->` begins a
new one. The README's programs have a file each: a reader copies one with its own imports. Imports, extensions and blocks that begin with `@main` stand at the top of the file.

Files that have their text already are left alone, so that the compiler need not read them again.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "Tools/.build/snippets"
SEPARATE = "<!-- another program -->"
IMPORT = re.compile(r"(public |@\w+(\(\w+\))? )*import ")
OUTSIDE = re.compile(r"(public |private |fileprivate )?(extension|@main|macro)\b")


def documents():
    """The documents that may have Swift in them."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").glob("*.md"))
    yield from sorted((ROOT / "Sources").glob("*/*.docc/**/*.md"))


def programs(text):
    """The blocks of each program of a document."""
    program, block = [], None
    for line in text.splitlines():
        if block is not None:
            if line.strip() == "```":
                program.append(block)
                block = None
            else:
                block.append(line)
        elif line.strip() == "```swift":
            block = []
        elif line.strip() == SEPARATE:
            if program:
                yield program
            program = []
    if program:
        yield program


def source(document, chosen=None):
    imports, conditional, outside, functions = [], [], [], []
    for number, program in enumerate(chosen or programs(document.read_text()), 1):
        body = []
        for block in program:
            rest, open_condition = [], False
            for line in block:
                if line.startswith("#if canImport"):
                    open_condition = True
                    conditional.append(line)
                elif open_condition:
                    conditional.append(line)
                    open_condition = line != "#endif"
                elif IMPORT.match(line):
                    imports.append(line)
                else:
                    rest.append(line)
            while rest and not rest[0].strip():
                rest.pop(0)
            code = [line for line in rest if line.strip() and not line.strip().startswith("//")]
            if not code:
                continue
            if OUTSIDE.match(code[0]):
                outside += rest + [""]
            else:
                body += rest + [""]
        if body:
            functions.append(f"private func program{number}() async throws {{")
            functions += ["  " + line if line else "" for line in body[:-1]] + ["}", ""]
    if not (outside or functions):
        return None
    path = document.relative_to(ROOT).as_posix()
    lines = [f"// The Swift of {path}, written by scripts/snippets.py.", "// swift-format-ignore-file", ""]
    lines += sorted(set(imports))
    unique = list(dict.fromkeys("\n".join(conditional).split("#endif")))
    lines += [part.strip() + "\n#endif" for part in unique if part.strip()]
    return "\n".join(lines + [""] + outside + functions).rstrip() + "\n"


def main():
    wanted = {}
    for document in documents():
        # Articles of several modules may have one name; the landing page has that of its module.
        module = document.relative_to(ROOT).parts[1] if ROOT / "Sources" in document.parents else ""
        stem = document.stem if document.stem == module else f"{module} {document.stem}"
        words = re.split(r"[^A-Za-z0-9]+", stem)
        name = "".join(word[:1].upper() + word[1:] for word in words if word)
        parts = {name: None}
        if document == ROOT / "README.md":
            alone = enumerate(programs(document.read_text()), 1)
            parts = {f"{name}{number}": [program] for number, program in alone}
        for name, chosen in parts.items():
            text = source(document, chosen)
            if text:
                wanted[TARGET / ("Modules" if module else "Guides") / f"{name}.swift"] = text
    present = set(TARGET.rglob("*.swift"))
    for path in present - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if path not in present or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


main()
