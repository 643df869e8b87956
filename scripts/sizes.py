#!/usr/bin/env python3
"""Checks the sizes of Swift code: files, functions, parameters, nesting.

A file has at most 300 lines. A function has at most 60 lines, 6 parameters and 4 nested blocks. Initialisers
may have a parameter for each property. There are no exceptions.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {"file": 300, "lines": 60, "parameters": 6, "nesting": 4}
FUNCTION = re.compile(r"\bfunc\s+([\w`]+|[^\s\w(]+)|\b(init|deinit|subscript)\b(?=[?!]?\s*[<({])")


def blanked(text):
    """The text with comments and string contents as blanks: only code keeps its braces and commas."""
    out, i, strings = [], 0, []
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"""|"|\\\(|[()\\]', re.S)
    # A string ends at its own quotes; an interpolation inside it is code again.
    # The number of open parentheses in the innermost interpolation; 0 in the string itself.
    depth = []
    while i < len(text):
        if strings and depth[-1] == 0:
            quote = strings[-1]
            if text.startswith(quote, i):
                strings.pop(), depth.pop()
                out.append(" " * len(quote))
                i += len(quote)
            elif text.startswith("\\(", i):
                depth[-1] = 1
                out.append("  ")
                i += 2
            elif text[i] == "\\":
                out.append("  ")
                i += 2
            else:
                out.append("\n" if text[i] == "\n" else " ")
                i += 1
            continue
        match = pattern.match(text, i)
        if match and match[0].startswith(("//", "/*")):
            out.append(re.sub(r"[^\n]", " ", match[0]))
            i = match.end()
        elif match and match[0] in ('"""', '"'):
            strings.append(match[0])
            depth.append(0)
            out.append(" " * len(match[0]))
            i = match.end()
        else:
            if strings:
                depth[-1] += {"(": 1, ")": -1}.get(text[i], 0)
            out.append(text[i])
            i += 1
    return "".join(out)


def closing(code, start, pair):
    """The position after the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(code)):
        depth += {pair[0]: 1, pair[1]: -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return len(code)


def parameters(code):
    """The number of parameters between the parentheses of a declaration."""
    count, depth = 0, 0
    for i, char in enumerate(code):
        depth += char in "([{<"
        depth -= char in ")]}" or char == ">" and code[i - 1] != "-"
        count += char == "," and depth == 0
    return count + 1 if code.strip() else 0


def nesting(body):
    deepest, depth = 0, -1
    for char in body:
        depth += {"{": 1, "}": -1}.get(char, 0)
        deepest = max(deepest, depth)
    return deepest


def functions(path, code):
    for match in FUNCTION.finditer(code):
        if code[: match.start()].rstrip().endswith("."):
            continue
        open_parenthesis = code.find("(", match.end())
        opening = code.find("{", match.end())
        name = match[1] or match[2]
        first = code.count("\n", 0, match.start())
        found = {}
        body = opening
        if name != "deinit":
            if open_parenthesis < 0:
                continue
            end = closing(code, open_parenthesis, "()")
            if match[1]:
                found["parameters"] = parameters(code[open_parenthesis + 1 : end - 1])
            # A requirement of a protocol has no body: its next line is another declaration.
            signature = re.compile(r"[^{}\n]*(\n\s*(->|where|async|throws|some)[^{}\n]*|\n\s*\S[^{}\n:=]*(?=\{))*\{")
            header = signature.match(code, end)
            body = header.end() - 1 if header else -1
        if body >= 0:
            end = closing(code, body, "{}")
            found["lines"] = code.count("\n", 0, end) - first + 1
            found["nesting"] = nesting(code[body:end])
        for kind, size in found.items():
            if size > LIMITS[kind]:
                yield kind, f"{path}:{name}", size


def main():
    problems = []
    for folder in ("Sources", "Tools/Sources"):
        for file in sorted((ROOT / folder).rglob("*.swift")):
            path = file.relative_to(ROOT).as_posix()
            text = file.read_text()
            lines = text.count("\n")
            found = [("file", path, lines)] if lines > LIMITS["file"] else []
            found += functions(path, blanked(text))
            problems += [f"{name}: {kind} {size}, at most {LIMITS[kind]}" for kind, name, size in found]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
