#!/usr/bin/env python3
"""Recordings that other programs made, read by `httpcache` and by an independent reader: are the responses the same?

    archives.py HTTPCACHE COLLECTION…

A collection is a folder, a tar or a zip file (such as a source package): of it, each file that is named like a HAR, WARC,
ARC or WACZ file, or begins like one. Equal files are compared once, in the first collection that has them. Needs the
Python packages warcio and brotli.

`httpcache unpack` writes what it reads as a WARC file, which warcio reads again. The independent reader is otherreader.py.
Each response of a recording is then

- equal: its status, its body octet by octet, its fields except those that no cache stores, and its time;
- left out, for a reason that the program tells and that this reader finds, too;
- replaced: a later response answers the same request;
- or different, which is a failure, as is a response that one side has and the other one does not tell about.

A file that is refused, here or there, is a figure to be looked into; a file that ends the program by a signal, or not at
all, is a failure.
"""
import collections, hashlib, os, re, subprocess, sys, tarfile, tempfile, zipfile, zlib
from warcio.archiveiterator import ArchiveIterator
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from otherreader import Response, expected, head, kept, listed, normal, seconds, selects

BINARY = os.path.realpath(sys.argv[1])
PATIENCE = 120
NAMES = (".har", ".har.gz", ".har.json", ".warc", ".warc.gz", ".warc.zst", ".warc.bz2", ".arc", ".arc.gz", ".wacz")
# The texts of the program's notes, and how this reader calls the reasons.
NOTES = [(r"a response to ", "another method"), (r"the status |a part of a response|a 304", "a status that is no answer"),
         (r"answers a request with credentials", "credentials"), (r"the recording has no body", "no body"),
         (r"\d+ of \d+ bytes|the response was cut|chunks are broken|cut when it was", "cut"),
         (r"in several records", "in several records"), (r"the text is not|.*JSON does not have|.*encoding ", "encoding"),
         (r"no request can select", "Vary"), (r"not an http or https URL", "no http or https URL"),
         (r"not an HTTP response", "no HTTP response"),
         (r"not as HAR", "form"), (r".*left out$|not the header|.*length of the record", "damaged")]
os.environ["SWIFT_BACKTRACE"] = "enable=no"


# Files of collections

def files(place):
    """The names and bytes of the files of a collection."""
    if os.path.isdir(place):
        for folder, _, names in sorted(os.walk(place)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        yield os.path.relpath(path, place), file.read()
    elif zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
    else:
        with tarfile.open(place) as archive:
            yield from ((entry.name, archive.extractfile(entry).read()) for entry in archive if entry.isfile())


def is_recording(name, body):
    if body.startswith(b"version https://git-lfs"):
        return False
    start = body[:1 << 16]
    if start[:2] == b"\x1f\x8b":
        try:
            start = zlib.decompressobj(31).decompress(start, 1 << 12)
        except zlib.error:
            pass
    is_har = re.match(rb"\s*(\xef\xbb\xbf)?\s*\{\s*\"log\"\s*:\s*\{", start) and b'"entries"' in body
    return name.lower().endswith(NAMES) or bool(is_har) or start.startswith((b"WARC/1", b"WARC/0", b"filedesc://"))


# The program

def unpacked(name, data, work):
    """The responses that the program read, its notes, their number, the refusal of the file, and a failure."""
    suffix = "".join(c if c.isalnum() or c in ".-_" else "_" for c in os.path.basename(name))[-100:]
    path, target = os.path.join(work, "a-" + suffix), os.path.join(work, "out.warc")
    for old in (path, target):
        if os.path.exists(old):
            os.remove(old)
    with open(path, "wb") as file:
        file.write(data)
    try:
        done = subprocess.run([BINARY, "unpack", path, target], capture_output=True, text=True, errors="replace",
                              timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return [], [], 0, "", f"no end after {PATIENCE} s"
    lines = [line.removeprefix(f"httpcache: {path}: ") for line in done.stderr.splitlines() if line]
    os.remove(path)
    if done.returncode == 10:
        return [], [], 0, " ".join(lines).replace(path, name) or "no word", "" if lines else "refused without a word"
    if done.returncode:
        return [], [], 0, "", f"exit status {done.returncode}: {done.stderr[-300:]}"
    count = len(lines)
    if lines and (more := re.search(r"more that are left out, (\d+) in all", lines[-1])):
        count = int(more[1])
        lines.pop()
    found, asked = [], {}
    with open(target, "rb") as file:
        for record in ArchiveIterator(file, no_record_parse=True):
            block, header = record.raw_stream.read(), record.rec_headers
            if record.rec_type == "request":
                asked[header.get_header("WARC-Concurrent-To")] = head(block)[1]
            elif record.rec_type in ("response", "revisit"):
                _, fields, body = head(block)
                time = seconds(header.get_header("WARC-Date"))
                found.append((header.get_header("WARC-Record-ID"), header.get_header("WARC-Refers-To"), Response(
                    0, header.get_header("WARC-Target-URI"), int(head(block)[0].split()[1]), fields, body, times=(time, time))))
    bodies = {name: each.body for name, _, each in found}
    for name, origin, each in found:
        each.body = bodies[origin] if origin else each.body
        each.request = asked.get(name)
    return [each for _, _, each in found], lines, count, "", ""


def reasons(lines):
    """The reasons of the notes by the place that they name."""
    found = {}
    for line in lines:
        place = re.match(r"(?:entry (\d+)|((?:\S.*?, )?record \d+)): (.*)", line)
        if place:
            text = re.sub(r"^https?://.*?: (?=[^ ])", "", place[3])
            kind = next((kind for form, kind in NOTES if re.match(form, text)), text)
            found[int(place[1]) if place[1] else place[2]] = kind, line
    return found


def difference(ours, theirs):
    """How two responses differ, in words; empty if they do not."""
    if ours.status != theirs.status:
        return f"status {ours.status} here, {theirs.status} there"
    if ours.body != theirs.body:
        here, there = ours.body, theirs.body
        at = next((i for i, (a, b) in enumerate(zip(here, there)) if a != b), min(len(here), len(there)))
        return (f"a body of {len(here)} octets here, {len(there)} there, from octet {at}: "
                f"{here[at:at + 20]} {there[at:at + 20]}")
    if ours.first("content-length") != str(len(ours.body)):
        return f"Content-Length: {ours.first('content-length')} for {len(ours.body)} octets"
    here, there = kept(Response(0, "", fields=ours.fields, request=[])), kept(theirs)
    if ours.values("vary") and theirs.is_decoded:
        here["vary"] = [", ".join(sorted(listed([value]))) for value in here["vary"]]
    for name in set(here) | set(there):
        if name == "date" and here[name] != there[name] and len(here[name]) == 1:
            # A Date that is none is replaced by the time of the record.
            continue
        if name == "content-type" and theirs.is_resource and not there[name]:
            # The type of a resource without one is told by its first octets.
            continue
        if name == "content-type" and theirs.text is not None and here[name] != there[name]:
            kinds = [(each or [""])[0].split(";")[0].strip() for each in (here[name], there[name])]
            if kinds[0] == kinds[1] and re.search(r"charset=\"?utf-8", here[name][0], re.I):
                continue
        if here[name] != there[name]:
            return f"{name}: {str(here[name])[:200]} here, {str(there[name])[:200]} there"
    if theirs.text is not None:
        charset = re.search(r"charset=\"?([^\";\s]+)", ours.first("content-type"), re.I)
        is_json = re.match(r"[^;]*[/+]json\s*(;|$)", ours.first("content-type"), re.I)
        if not ours.body.isascii() and not (is_json or charset and charset[1].lower() in ("utf-8", "utf8")):
            return f"a text in UTF-8 under {ours.first('content-type')!r}"
    if not int(theirs.times[0]) <= ours.times[0] <= int(theirs.times[1]) + 1:
        return f"time {ours.times[0]} here, {theirs.times} there"
    return ""


def compared(name, data, work):
    """Figures of a file, notes to look into, and failures."""
    figures, notes, wrong = collections.Counter(), [], []
    try:
        theirs, problem = expected(data)
    except Exception as error:
        theirs, problem = [], repr(error)[:200]
    ours, lines, count, refusal, failure = unpacked(name, data, work)
    if failure:
        return figures, notes, [failure]
    if refusal:
        whole = [each for each in theirs if not each.reason]
        kind = "alone" if whole else "and there" if problem else "with nothing to read there"
        figures["files refused here " + kind] += 1
        notes.append(f"{refusal} | {problem} | {len(whole)} responses")
        return figures, notes, wrong
    if problem:
        figures["files that the other reader does not read whole"] += 1
        notes.append(f"the other reader: {problem} | {len(ours)} responses here, {len(theirs)} there, {count} notes")
    told, latest = reasons(lines), {}
    for each in theirs:
        if not each.reason:
            latest[selects(each)] = each
    left = collections.defaultdict(list)
    for each in ours:
        left[normal(each.url)].append(each)
    untold = 0
    for each in theirs:
        reason, line = told.pop(each.number, ("", ""))
        if each.reason:
            if reason == each.reason:
                figures["left out: " + reason] += 1
            elif not reason and count > len(lines):
                figures["left out: " + each.reason] += 1
                untold += 1
            else:
                # warcio loses its place behind a block that no line end follows.
                lost = problem and each.reason == "damaged"
                (notes if lost else wrong).append(
                    f"{each.number} {each.url}: {line or 'no word'!r} here, {each.reason!r} there")
        elif reason:
            wrong.append(f"{line!r} here, whole there")
        elif latest[selects(each)] is not each:
            figures["replaced by a later one"] += 1
        else:
            candidates = left[each.url]
            found = [(difference(one, each), one) for one in candidates]
            same = next((one for why, one in found if not why), None)
            if same:
                figures["equal"] += 1
                candidates.remove(same)
            else:
                wrong.append(f"{each.number} {each.url}: {found[0][0] if found else 'nothing here'}")
                if found:
                    candidates.remove(found[0][1])
    if untold != count - len(lines) and not problem:
        wrong.append(f"{count - len(lines)} notes are not shown, {untold} were expected")
    for url, rest in left.items():
        if rest:
            (notes if problem else wrong).append(f"{url}: {len(rest)} responses here alone")
    for place, (reason, line) in told.items():
        if reason == "damaged":
            figures["damage that the other reader skips"] += 1
        (notes if problem or reason == "damaged" else wrong).append(f"{line}: nothing there")
    return figures, notes, wrong


def main():
    seen, total, kinds, failures = set(), collections.Counter(), [], 0
    for place in sys.argv[2:]:
        name, sums, count = os.path.basename(place.rstrip("/")), collections.Counter(), 0
        with tempfile.TemporaryDirectory(prefix="archives-") as work:
            for file, data in files(place):
                digest = hashlib.sha256(data).digest()
                if not data or digest in seen or not is_recording(file, data):
                    continue
                seen.add(digest)
                count += 1
                figures, notes, wrong = compared(file, data, work)
                sums.update(figures)
                sums["failures"] += len(wrong)
                wrong, notes = ([re.sub(r"(https?://\S{100})\S+", r"\1…", each) for each in list] for list in (wrong, notes))
                for text in wrong:
                    print(f"FAIL {name} {file}: {text[:700]}", flush=True)
                for text in notes:
                    print(f"note {name} {file}: {text[:700]}", flush=True)
        if count:
            sums["files"] = count
            total.update(sums)
            print(f"     {name}: {dict(sums)}", flush=True)
    print("| | |\n|---|---|")
    for kind, figure in sorted(total.items(), key=lambda each: -each[1]):
        print(f"| {kind} | {figure} |")
    print(f"{total['equal']} passed, {total['failures']} failed")
    sys.exit(total["failures"] > 0)


main()
