"""Reads recordings for archives.py, apart from the code of httpcache: Python's json with the rules of HAR 1.2 for HAR; warcio
for the records of WARC and ARC, with the rules of RFC 9112 for the messages in them; zipfile for WACZ. Needs the Python
packages warcio and brotli."""
import base64, binascii, collections, datetime, gzip, io, json, re, zipfile, zlib
import brotli
from warcio.archiveiterator import ArchiveIterator

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Fields of one connection, of one client, and of the length that the program writes anew.
DROPPED = {"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "upgrade",
           "proxy-authentication-info", "transfer-encoding", "http2-settings", "set-cookie", "content-length"}
# Digests of a body in its content coding.
OF_CODED = {"content-encoding", "content-digest", "repr-digest", "content-md5"}


class Response:
    """A response of a recording. `reason` tells why it must be left out; empty if it must not."""

    def __init__(self, number, url, status=0, fields=(), body=b"", reason="", request=None, times=(0, 0), is_decoded=False,
                 text=None):
        self.number, self.url, self.status, self.body, self.reason = number, url, status, body, reason
        self.fields, self.request, self.times, self.is_decoded, self.text = list(fields), request, times, is_decoded, text
        self.is_resource = False

    def values(self, name):
        return [value for found, value in self.fields if found.lower() == name]

    def first(self, name):
        return (self.values(name) or [""])[0]


# URLs, fields and times

def normal(url):
    """A URL as RFC 9110 §4.2.3 compares it; empty if it is not an http or https URL."""
    url = url.replace(" ", "%20")
    parts = re.fullmatch(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", url, re.I | re.S)
    if not parts or re.search(r"[\x00-\x20\x7f]", url) or len(url.encode("utf-8", "replace")) > 65_536:
        return ""
    scheme, authority = parts[1].lower(), parts[2].rsplit("@", 1)[-1]
    host = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(:(\d*))?", authority)
    if not host or not host[1] or host[3] and int(host[3]) > 65_535:
        return ""
    port = host[3] and int(host[3]) or {"http": 80, "https": 443}[scheme]
    shown = "" if port == {"http": 80, "https": 443}[scheme] else f":{port}"
    return f"{scheme}://{encoded(encoded(host[1]).lower())}{shown}{encoded(parts[3]) or '/'}{encoded(parts[4] or '')}"


def encoded(text):
    octets = "".join(c if ord(c) < 0x80 else "".join("%%%02X" % b for b in c.encode("utf-8", "replace")) for c in text)
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)) if re.match(r"[A-Za-z0-9._~-]", chr(int(m[1], 16)))
                  else m[0].upper(), octets)


def listed(values):
    return {part.strip().lower() for value in values for part in value.split(",") if part.strip()}


def seconds(text):
    """A time of HAR, WARC or ARC in whole seconds; 0 if it is none."""
    text = text or ""
    if re.fullmatch(r"\d{14}", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10]}:{text[10:12]}:{text[12:]}"
    text = re.sub(r"(\.\d{6})\d+", r"\1", text.replace("Z", "+00:00"))
    try:
        moment = datetime.datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)).timestamp()
    except ValueError:
        return 0


def kept(response):
    """The fields that a cache keeps, by their names in lower case."""
    dropped = DROPPED | listed(response.values("connection"))
    for value in response.values("cache-control"):
        for names in re.findall(r"no-cache\s*=\s*\"([^\"]*)\"", value, re.I):
            dropped |= listed([names])
    dropped = {name for name in dropped if not name.startswith("content-") or name == "content-length"}
    found = collections.defaultdict(list)
    for name, value in response.fields:
        name = name.lower()
        if name in dropped or response.is_decoded and name in OF_CODED:
            continue
        if name == "vary" and (response.is_decoded or response.request is None):
            rest = listed([value]) - {"accept-encoding"}
            if response.request is None or not rest:
                continue
            value = ", ".join(sorted(rest))
        found[name].append(value)
    return found


def selects(response):
    """What a request must have to get this response: its URL, and the fields that Vary names."""
    if response.request is None:
        return response.url
    names = listed(response.values("vary")) - ({"accept-encoding"} if response.is_decoded else set())
    sent = collections.defaultdict(list)
    for name, value in response.request:
        sent[name.lower()].append(re.sub(r"\s*,\s*", ",", value.strip()))
    return response.url + "".join(f"\n{name}={','.join(sent[name])}" for name in sorted(names))


def objection(response, method):
    """Why nothing may answer with this response, whatever its body."""
    if not response.url:
        return "no http or https URL"
    if method != "GET":
        return "another method"
    if not 200 <= response.status <= 599 or response.status in (206, 304):
        return "a status that is no answer"
    return "credentials" if any(name.lower() == "authorization" for name, _ in response.request or ()) else ""


def unselectable(response):
    """Whether no request can select a response: by RFC 9110 §12.5.5, or without a secret that is not kept."""
    if response.request is None:
        return ""
    sent, varied = {name.lower() for name, _ in response.request}, listed(response.values("vary"))
    return "Vary" if "*" in varied or varied & sent & {"cookie", "proxy-authorization"} else ""


def coded(body, coding):
    """Whether a body is in its content coding."""
    try:
        if coding in ("gzip", "x-gzip"):
            return body[:2] == b"\x1f\x8b"
        if coding == "zstd":
            return body[:4] == b"\x28\xb5\x2f\xfd"
        if coding == "deflate":
            for bits in (15, -15):
                try:
                    return bool(zlib.decompressobj(bits).decompress(body)) or not body
                except zlib.error:
                    pass
            return False
        if coding == "br":
            return brotli.decompress(body) is not None
    except brotli.error:
        return False
    return True


# HAR

def har(data):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    log = json.loads(data.decode("utf-8-sig"))["log"]
    return [entry(number, value) for number, value in enumerate(log["entries"], 1)]


def pairs(list_of_fields):
    for pair in list_of_fields or []:
        value = pair.get("value") if isinstance(pair, dict) and isinstance(pair.get("name"), str) else None
        if isinstance(value, (str, int, float, bool)):
            value = value if isinstance(value, str) else json.dumps(value)
            for line in re.split(r"[\r\n\v\f\x85\u2028\u2029]+", value) if value else [""]:
                line = line.strip(" \t")
                if TOKEN.fullmatch(pair["name"]) and (line or not value) and not re.search(r"[\x00-\x08\x0a-\x1f\x7f]", line):
                    yield pair["name"], line


def number_of(value):
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def entry(number, value):
    try:
        request, answer = value["request"], value["response"]
        method, url, status, content = request["method"], request["url"], answer["status"], answer.get("content") or {}
        text, encoding = content.get("text"), content.get("encoding")
        if not isinstance(status, int) or not all(isinstance(each, (str, type(None))) for each in (text, encoding)):
            raise TypeError
        sent, fields = list(pairs(request.get("headers"))), list(pairs(answer.get("headers")))
        url, method = normal(url), method.upper()
    except (KeyError, TypeError, AttributeError):
        return Response(number, "", reason="form")
    found = Response(number, url, status, fields, request=sent)
    kind = content.get("mimeType")
    if not found.values("content-type") and isinstance(kind, str) and kind and kind != "x-unknown":
        found.fields.append(("Content-Type", kind))
    start, waits = seconds(value.get("startedDateTime")), value.get("timings")
    waits = waits if isinstance(waits, dict) else {}
    waits = [waits.get(name) for name in ("blocked", "dns", "connect", "send", "wait")]
    waits = [each for each in waits if isinstance(each, (int, float))]
    found.times = (start, start + sum(each for each in waits if 0 <= each <= 86_400_000) / 1000 if start else 0)
    coding = found.first("content-encoding").lower()
    found.is_decoded = bool(coding) and coding != "identity" and content.get("_isCoded") is not True
    found.reason = objection(found, method) or body_of(found, content, answer, coding) or unselectable(found)
    return found


def body_of(found, content, answer, coding):
    """Reads the body; the reason if it is not there, or not whole."""
    text, encoding = content.get("text"), (content.get("encoding") or "").lower()
    size, announced = number_of(content.get("size")), number_of(found.first("content-length"))
    is_empty = found.status in (204, 205) or 300 <= found.status < 400 and found.first("location")
    if not text:
        # A body that is chunked has octets on the line also if it is empty.
        sent = number_of(answer.get("bodySize")) if text is None else None
        told = [each for each in (size, announced, sent) if each is not None and each > 0]
        if found.is_decoded and text == "" and size is not None and size in (announced, number_of(answer.get("bodySize"))):
            told = []
        if announced == 0:
            told = [size] if size and size > 0 else []
        known = text == "" or size == 0 or announced == 0
        return "" if is_empty or known and not told else "no body"
    try:
        chunks = json.loads(text) if text.startswith('["') else None
        listed_chunks = isinstance(chunks, list) and all(isinstance(each, str) for each in chunks)
        if listed_chunks and coding and (encoding in ("base64", "hex") or re.match(r'\["1f(",")?8b', text)):
            # Polly.js keeps a body in its content coding, as a list of the pieces that arrived.
            found.body = b"".join(base64.b64decode(each, validate=True) if encoding == "base64" else bytes.fromhex(each)
                                  for each in chunks)
            found.is_decoded = False
        elif encoding == "base64":
            digits = "".join(c for c in text if c > " ").rstrip("=")
            found.body = base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
        elif encoding == "hex" or content.get("_isBinary") is True:
            found.body = bytes.fromhex(text)
        elif encoding in ("", "utf-8", "utf8"):
            found.body, found.text = text.encode("utf-8", "replace"), text
        else:
            return "encoding"
    except (ValueError, binascii.Error):
        return "encoding"
    if found.is_decoded and size in (announced, number_of(answer.get("bodySize"))):
        size = None
    if size is not None and found.text is None and size == len(text.encode("utf-8", "replace")):
        size = None
    charset = re.search(r"charset=\"?([^\";\s]+)", found.first("content-type"), re.I)
    is_other = charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii")
    # A text may have lost its byte order mark, and its length in another charset is unknown.
    is_text = found.text is not None
    is_short = size is not None and size > len(found.body) + (3 if is_text else 0)
    return "cut" if is_short and not (is_text and is_other) else ""


# WARC, ARC and WACZ

def field(header, name):
    """A field of a record, without the white space that warcio leaves of a folded line; None if there is none."""
    found = header.get_header(name)
    return found and found.strip()


def records(data, name="", first=1):
    """The records of a file by warcio: number, format, header, block, and whether it is not as long as its header says."""
    def read(data):
        found, reader = [], ArchiveIterator(io.BytesIO(data), no_record_parse=True)
        try:
            for record in reader:
                block, errors = record.raw_stream.read(), reader.err_count
                length = field(record.rec_headers, "Content-Length" if record.format == "warc" else "length")
                is_damaged = record.length is None or len(block) != record.length or not (length or "").isdigit()
                found.append([name, first + len(found), record.format, record.rec_type, record.rec_headers, block, is_damaged])
                if record.format == "warc":
                    # warcio tells by this count that no record begins behind the block.
                    reader.read_to_end()
                    found[-1][-1] |= reader.err_count > errors
        except Exception as error:
            return found, repr(error)[:200]
        return found, ""
    found, problem = read(data)
    if problem and data[:2] == b"\x1f\x8b":
        # warcio wants a gzip member for each record.
        whole, rest = b"", data
        try:
            while rest:
                member = zlib.decompressobj(31)
                whole += member.decompress(rest)
                rest = member.unused_data
        except zlib.error:
            pass
        again = read(whole)
        if len(again[0]) >= len(found):
            found, problem = again
    return found, problem


def head(block):
    """The first line and the fields of a message, and the rest of the block; None if it has no head."""
    end = re.search(rb"\r?\n\r?\n", block)
    if block.startswith((b"\r\n", b"\n")) or not end or end.start() > 256 << 10:
        return None
    lines = []
    for line in block[:end.start()].split(b"\n"):
        line = line.removesuffix(b"\r")
        if lines and line[:1] in (b" ", b"\t"):
            lines[-1] += b" " + line.strip(b" \t")
        else:
            lines.append(line)
    fields = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        name, value = name.decode("latin-1").strip(" \t"), value.strip(b" \t")
        if colon and TOKEN.fullmatch(name) and not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value):
            fields.append((name, shown(value)))
    return lines[0].decode("latin-1"), fields, block[end.end():]


def shown(octets):
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return octets.decode("latin-1")


def message(block):
    """The status, fields and body octets of the final response in a block."""
    while True:
        found = head(block)
        status = re.match(r"HTTP/\S+ +(\d{3})(?: |$)", found[0]) if found else None
        if not status:
            return None
        if not 100 <= int(status[1]) < 200 or int(status[1]) == 101 or not head(found[2]):
            return int(status[1]), found[1], found[2]
        block = found[2]


def unchunked(body):
    """The body without chunks, and whether it has all of them; None if it is not chunked."""
    whole, at, has_chunk = b"", 0, False
    while True:
        size = re.compile(rb"([0-9A-Fa-f]+)[ \t]*(;[^\n]*)?\r?\n").match(body, at)
        if not size:
            return (whole, False) if has_chunk or not body else None
        count, at = int(size[1], 16), size.end()
        if not count:
            return whole, bool(re.compile(rb"([^\r\n][^\n]*\n)*\r?\n").match(body, at))
        whole += body[at:at + count]
        ending = re.compile(rb"\r?\n").match(body, at + count)
        if not ending:
            return (whole, False) if has_chunk or at + count >= len(body) else None
        has_chunk, at = True, ending.end()


def framed(found, body):
    """Removes the transfer coding from the body of a message; the reason if it is not whole."""
    coding = found.first("content-encoding").lower()
    lengths = {part.strip() for part in found.first("content-length").split(",")} if found.first("content-length") else set()
    length = int(lengths.pop()) if len(lengths) == 1 and min(lengths).isdigit() else None
    reason = ""
    if found.first("transfer-encoding").lower().endswith("chunked"):
        length = None
        chunks = unchunked(body)
        if chunks:
            body, reason = chunks[0], "" if chunks[1] else "cut"
    looks_decoded = bool(coding) and coding != "identity" and bool(body) and not coded(body, coding)
    if length is not None and not looks_decoded:
        body, reason = body[:length], "cut" if len(body) < length else reason
    found.body, found.is_decoded = body, looks_decoded and length != len(body)
    if 300 <= found.status < 400 and found.first("location") and not body:
        reason = ""
    return reason


def warc(groups):
    """The responses of files of records; the requests of the same file belong to them."""
    responses, by_name, requests, waiting = [], {}, {}, []
    for part, number, form, kind, header, block, is_damaged in groups:
        if kind == "request" and not is_damaged and form == "warc":
            asked = head(block)
            words = asked[0].split() if asked else []
            if len(words) == 3 and words[2].startswith("HTTP/"):
                for name, value in header.headers:
                    if name.lower() == "warc-concurrent-to":
                        requests[value] = words[0], asked[1]
                if field(header, "WARC-Record-ID"):
                    requests["of " + field(header, "WARC-Record-ID")] = words[0], asked[1]
    for part, number, form, kind, header, block, is_damaged in groups:
        number, kind = f"{part}record {number}", (kind or "").strip().lower()
        url = normal((field(header, "WARC-Target-URI" if form == "warc" else "uri") or "").strip("<>"))
        if is_damaged:
            responses.append(Response(number, url, reason="damaged"))
            continue
        if kind not in ("response", "resource", "revisit") or form == "arc" and kind == "arc_header":
            continue
        time = seconds(field(header, "WARC-Date" if form == "warc" else "archive-date"))
        names = [field(header, "WARC-Record-ID"), field(header, "WARC-Payload-Digest"),
                 (field(header, "WARC-Target-URI"), field(header, "WARC-Date"))] if form == "warc" else []
        asked = next((requests[name] for name in ["of " + str(value) for key, value in header.headers
                      if key.lower() == "warc-concurrent-to"] + names[:1] if name in requests), ("GET", None))
        found = Response(number, url, request=asked[1], times=(time, time))
        segment = field(header, "WARC-Segment-Number"), field(header, "WARC-Truncated")
        partial = "in several records" if segment[0] else "cut" if segment[1] else ""
        answer = message(block)
        media = field(header, "Content-Type") or ("application/http" if url else "")
        is_message = block[:5] == b"HTTP/" or media.lower().startswith("application/http")
        if kind == "revisit":
            confirmed = (field(header, "WARC-Profile") or "").lower().endswith("server-not-modified")
            if url and not confirmed and not (answer and answer[0] == 304):
                waiting.append((found, answer, asked[0], [field(header, "WARC-Refers-To"), field(header, "WARC-Payload-Digest"),
                                (field(header, "WARC-Refers-To-Target-URI"), field(header, "WARC-Refers-To-Date"))], names))
                responses.append(found)
            continue
        if kind == "resource" or form == "warc" and not is_message:
            if not url:
                continue
            found.status, found.body, found.request, found.is_resource = 200, block, None, True
            if field(header, "Content-Type"):
                found.fields = [("Content-Type", field(header, "Content-Type"))]
            found.reason = partial
        elif not url:
            found.reason = "no http or https URL"
        elif not answer:
            found.reason = "no HTTP response"
        else:
            found.status, found.fields = answer[:2]
            cut = framed(found, answer[2])
            found.reason = objection(Response(0, url, found.status), "GET") or partial or cut
            found.reason = found.reason or objection(found, asked[0]) or unselectable(found)
        for name in names:
            # A body that is whole.
            if name and name != (None, None) and found.reason in ("", "another method", "credentials", "Vary"):
                by_name[name] = found
        responses.append(found)
    for found, answer, method, origins, names in waiting:
        origin = next((by_name[name] for name in origins if name in by_name), None)
        if not origin:
            found.reason = "no body"
            continue
        found.status, found.fields = answer[:2] if answer else (origin.status, origin.fields)
        found.body, found.is_decoded = origin.body, origin.is_decoded
        if not answer and found.request is None:
            found.request = origin.request
        found.reason = objection(found, method) or unselectable(found)
    return responses


def expected(data):
    """The responses of a recording, and why the independent reader could not read all of it."""
    if data[:4] == b"PK\x03\x04":
        found, problems, first = [], [], 1
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                if re.fullmatch(r"archive/.*\.w?arc(\.gz)?", name, re.I):
                    part, problem = records(archive.read(name), f"{name}, ", first)
                    first += len(part)
                    found += part
                    problems += [problem] if problem else []
        return warc(found), "; ".join(problems)
    start = data[:1 << 12]
    if start[:2] == b"\x1f\x8b":
        try:
            start = zlib.decompressobj(31).decompress(data[:1 << 16], 1 << 12)
        except zlib.error:
            pass
    if re.match(rb"\s*(\xef\xbb\xbf)?\s*\{", start):
        return har(data), ""
    found, problem = records(data)
    return warc(found), problem
