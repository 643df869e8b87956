#!/usr/bin/env python3
"""Images that other programs made, decoded by `httpcache image` and by Pillow: are the pixels the same?

    images.py HTTPCACHE COLLECTION…

A collection is a folder, a tar or a zip file (such as a source package): of it, each file that is named like JPEG, PNG,
WebP, GIF, AVIF or HEIC, or begins like one. Equal files are compared once, in the first collection that has them. Needs
the Python package Pillow, and pillow-heif for HEIC.

Pixels are compared as they are in the file, without profiles: turned upright by EXIF, with 8 bits, straight alpha, and
any color where both are transparent. What the first picture of a GIF does not cover must be transparent. They may differ
by 1 of 255 in a PNG of 16 bits, by 2 in JPEG and WebP, and by 3 in AVIF and HEIC. Colors of half the resolution are
repeated here and blended there in AVIF and HEIC: of them, the means of 8 x 8 pixels are compared, which may differ by 8.

A picture unlike Pillow's is compared with that of another program, and is not "different" if the two agree. "As a third
decoder":
- AVIF: the samples that avifdec decodes, converted by the formulas of ITU-T H.273 without rounding, each color sample
  repeated, cropped and turned as avifdec reports; at most 2 of 255 apart. Needs NumPy. The list names the distance of
  Pillow's picture from the same one.
- PNG and GIF: the picture of ffmpeg, and of a PNG that of GraphicsMagick (libpng), equal in each pixel.
"As its library": progressive JPEG and HEIC, of which djpeg and heif-convert make a picture that is equal in each pixel. They
have the program's libjpeg-turbo and libheif: Pillow's versions of these compute other pixels.

What ends by a signal, or not at all, is a failure; all else is a figure, to be looked into.
"""
import collections, hashlib, io, os, re, shutil, subprocess, sys, tarfile, tempfile, warnings, zipfile
from PIL import Image, ImageChops, ImageOps, ImageStat, PngImagePlugin
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers

try:
    import pillow_heif
    pillow_heif.register_heif_opener()
except ImportError:
    print("without HEIC: there is no pillow-heif")

try:
    import numpy
except ImportError:
    numpy = None
for tool in ("avifdec", "ffmpeg", "gm", "djpeg", "heif-convert"):
    if not shutil.which(tool) or tool == "avifdec" and not numpy:
        print(f"without comparing with {tool}{': it or NumPy is missing' if tool == 'avifdec' else ': it is missing'}")

BINARY = os.path.realpath(sys.argv[1])
BATCH, BATCH_BYTES, PATIENCE = 40, 40 << 20, 120
NAMES = (".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".webp", ".gif", ".avif", ".heic", ".heif", ".hif")
STARTS = re.compile(rb"\xff\xd8\xff|\x89PNG|GIF8[79]a|RIFF....WEBP|....ftyp.{0,40}?(?:avi[fs]|hei[cxms]|hev[cx])", re.S)
KINDS = ["equal", "refused by both", "refused here alone", "refused by Pillow alone", "different", "as a third decoder",
         "as its library"]
# The parts of red and blue in the brightness by matrix (ITU-T H.273, table 4). MIAF takes 601 for an unspecified one.
PARTS = {1: (.2126, .0722), 2: (.299, .114), 4: (.3, .11), 5: (.299, .114), 6: (.299, .114), 7: (.212, .087),
         9: (.2627, .0593)}
# An image of more than twice this number is an error for Pillow: 100 million, as for the program.
Image.MAX_IMAGE_PIXELS = 50_000_000
# The program writes color profiles of up to 8 MiB into its PNG.
PngImagePlugin.MAX_TEXT_CHUNK = 8 << 20
warnings.simplefilter("ignore")
os.environ["SWIFT_BACKTRACE"] = "enable=no"
bodies = {}


class Handler(servers.Handler):
    def do_GET(self):
        body = bodies[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)


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


def batches(place, seen):
    batch = []
    for name, body in files(place):
        digest = hashlib.sha256(body).digest()
        is_named = name.lower().endswith(NAMES) and not body.startswith(b"version https://git-lfs")
        if body and digest not in seen and (is_named or STARTS.match(body)):
            seen.add(digest)
            batch.append((name, body))
            if len(batch) == BATCH or sum(len(body) for _, body in batch) > BATCH_BYTES:
                yield batch
                batch = []
    yield batch


def straight(image, body):
    """The pixels with 8 bits each of red, green, blue and alpha, and how much they may differ."""
    tolerance = {"JPEG": 2, "MPO": 2, "WEBP": 2, "AVIF": 3, "HEIF": 3}.get(image.format, 0)
    key = image.info.get("transparency")
    if image.format == "PNG":
        tolerance, color = body[24] // 16, body[25]
        # Pillow compares a gray that is transparent with pixels that it has scaled to 8 bits.
        if color == 0 and body[24] in (2, 4) and isinstance(key, int):
            image.info["transparency"] = (key & 15) * (17 if body[24] == 4 else 85)
    if image.mode.startswith("I;16"):
        samples = image.tobytes()
        high, low = (samples[1::2], samples[::2]) if image.mode != "I;16B" else (samples[::2], samples[1::2])
        alpha = None
        if isinstance(key, int):
            alpha = bytes(0 if h << 8 | l == key else 255 for h, l in zip(high, low))
        image = Image.frombytes("L", image.size, high).convert("RGBA")
        if alpha:
            image.putalpha(Image.frombytes("L", image.size, alpha))
    return image.convert("RGBA"), tolerance


def by_pillow(body):
    image = Image.open(io.BytesIO(body))
    image.load()
    covered = image.dispose_extent if image.format == "GIF" else None
    # XMP turns images for Pillow alone.
    for key in ("xmp", "XML:com.adobe.xmp"):
        image.info.pop(key, None)
    try:
        turned = ImageOps.exif_transpose(image)
    except Exception:
        turned = image
    turned.format = image.format
    pixels, tolerance = straight(turned, body)
    if covered and covered != (0, 0) + pixels.size:
        shown = Image.new("RGBA", pixels.size)
        shown.paste(pixels.crop(covered), covered[:2])
        pixels = shown
    return pixels, tolerance


def is_halved(body):
    """Whether an AVIF or HEIC has colors of half the resolution."""
    return any(flags[0] & 0x1C in (0x08, 0x0C) for flags in re.findall(rb"av1C..(.)", body[:65536], re.S)) or any(
        flags[0] & 3 in (1, 2) for flags in re.findall(rb"hvcC.{16}(.)", body[:65536], re.S))


def difference(ours, theirs, tolerance, is_halved):
    """How the pixels differ, in words; empty if they do not."""
    if ours.size != theirs.size:
        return "%d x %d here, %d x %d there" % (ours.size + theirs.size)
    images = [Image.composite(each, Image.new("RGBA", each.size), each.getchannel("A").point(lambda a: a and 255))
              for each in (ours, theirs)]
    change = ImageChops.difference(*images)
    mean, most = ImageStat.Stat(change).mean, [last for _, last in change.getextrema()]
    blocks = [last for _, last in ImageChops.difference(*(image.reduce(8) for image in images)).getextrema()]
    if max(most) <= tolerance or is_halved and most[3] <= tolerance and max(blocks) <= 8:
        return ""
    box = change.point(lambda value: 255 if value > tolerance else 0).getbbox(alpha_only=False)
    return f"by up to {most}, of blocks {blocks}, on average {', '.join('%.2f' % each for each in mean)}, in {box} of {ours.size}"


def by_formula(source):
    """The pixels of an AVIF by the formulas of H.273, as an array of four numbers each; None if they cannot be told."""
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "a.y4m")
        done = subprocess.run(["avifdec", "--no-strict", source, target], capture_output=True, text=True, errors="replace")
        if done.returncode or not os.path.exists(target):
            return None
        facts = dict(re.findall(r"^ +\* (\S+).*?: (.*)$", done.stdout, re.M))
        with open(target, "rb") as file:
            header, _, samples = file.readline().decode(), file.readline(), file.read()
        opacity = None
        if facts["Alpha"] != "Absent" and "alpha" not in header:
            # avifdec writes alpha into a Y4M only beside whole colors of 8 bits.
            target = os.path.join(folder, "a.png")
            subprocess.run(["avifdec", "--no-strict", "-d", "8", source, target], capture_output=True)
            opacity = numpy.asarray(Image.open(target).convert("RGBA"))[..., 3] / 255
    width, height, form, bits, alpha = re.search(
        r" W(\d+) H(\d+) .*?C(420|422|444|mono)(?:jpeg)?(?:p?(10|12))?(alpha)?", header).groups()
    width, height, bits = int(width), int(height), int(bits or 8)
    if int(facts["Matrix"]) not in PARTS or facts["Alpha"] == "Premultiplied":
        return None
    samples = numpy.frombuffer(samples, "<u2" if bits > 8 else "u1")
    across, down = {"420": (2, 2), "422": (2, 1)}.get(form, (1, 1))
    sizes = [(height, width)] + [(-(-height // down), -(-width // across))] * (0 if form == "mono" else 2)
    planes = []
    for size in sizes + [(height, width)] * bool(alpha):
        planes.append(samples[:size[0] * size[1]].reshape(size))
        samples = samples[size[0] * size[1]:]
    top, half = 2 ** bits - 1, 2 ** (bits - 1)
    black, range_of_luma, range_of_color = (0, top, top) if facts["Range"] == "Full" else [
        value * 2 ** (bits - 8) for value in (16, 219, 224)]
    luma = (planes[0] - float(black)) / range_of_luma
    blue, red = [((plane - float(half)) / range_of_color).repeat(across, 1).repeat(down, 0)[:height, :width]
                 for plane in planes[1:3]] if form != "mono" else (0, 0)
    part_of_red, part_of_blue = PARTS[int(facts["Matrix"])]
    red, blue = luma + 2 * (1 - part_of_red) * red, luma + 2 * (1 - part_of_blue) * blue
    green = (luma - part_of_red * red - part_of_blue * blue) / (1 - part_of_red - part_of_blue)
    if opacity is None:
        opacity = planes[-1] / top if alpha else numpy.ones_like(luma)
    pixels = numpy.stack([red, green, blue, opacity], 2).clip(0, 1) * 255
    if "clap" in facts:
        part = [int(above) / int(below) for above, below in re.findall(r": (-?\d+)/(\d+)", facts["clap"])]
        # Where a crop begins between two pixels, it begins at the first of both.
        x, y = [int((whole - size) / 2 + shift) for whole, size, shift in zip((width, height), part, part[2:])]
        pixels = pixels[y:y + round(part[1]), x:x + round(part[0])]
    pixels = numpy.rot90(pixels, int(facts.get("irot", "0")[0]))
    if "imir" in facts:
        pixels = pixels[::-1] if "Mode 0" in facts["imir"] else pixels[:, ::-1]
    return pixels


def distance(image, formula):
    """The greatest distance of the pixels from those by the formulas; None for another size."""
    pixels = numpy.asarray(image)
    if pixels.shape != formula.shape:
        return None
    change = numpy.abs(pixels - formula)
    # The colors of a transparent pixel are free.
    change[..., :3][(formula[..., 3] < .5) & (pixels[..., 3] == 0)] = 0
    return float(change.max())


# The programs that write another picture, by the first bytes of a file: to standard output, or to a PNG.
FFMPEG = ["ffmpeg", "-v", "error", "-i", "IN", "-frames:v", "1", "-pix_fmt", "rgba", "-c:v", "png", "-f", "image2pipe",
          "-"]
PROGRAMS = [
    (rb"\x89PNG|GIF8", FFMPEG),
    (rb"\x89PNG", ["gm", "convert", "IN", "png32:-"]),
    (rb"\xff\xd8.*\xff\xc2", ["djpeg", "-rgb", "IN"]),
    (rb"....ftyp.{0,56}?(?:hei[cxms]|hev[cx])", ["heif-convert", "IN", "OUT"]),
]


def third_picture(command, source):
    """The picture of another program; None without one."""
    output = source + ".png"
    command = [{"IN": source, "OUT": output}.get(word, word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE)
        return Image.open(output if output in command else io.BytesIO(done.stdout)).convert("RGBA")
    except (OSError, subprocess.TimeoutExpired):
        return None


def by_third(body, ours, theirs):
    """The program that shows an image like this one and unlike Pillow, in words; empty without one."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "image")
        with open(source, "wb") as file:
            file.write(body)
        if re.match(rb"....ftyp.{0,56}?avi[fs]", body, re.S):
            formula = by_formula(source) if numpy and shutil.which("avifdec") else None
            here = None if formula is None else distance(ours, formula)
            if here is None or here > 2:
                return ""
            there = distance(theirs, formula)
            return f"avifdec: {here:.1f} here, " + ("not cropped there" if there is None else f"{there:.1f} there")
        for start, command in PROGRAMS:
            if re.match(start, body, re.S):
                third = third_picture(command, source)
                if third and not difference(ours, third, 0, False):
                    return command[0]
    return ""


def by_httpcache(count, patience):
    """The reason for each of the images of this batch that the program refused, and how it ended if that is a failure."""
    urls = [f"{upstream}/{number}" for number in count]
    with tempfile.TemporaryDirectory(dir=work) as directory:
        output = [out] if len(urls) > 1 else [f"{out}/{count[0]}.png"]
        try:
            done = subprocess.run([BINARY, "image", *urls, "--format", "png", "-o", *output, "--dir", directory],
                                  capture_output=True, text=True, errors="replace", timeout=patience)
            code, lines = done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            return {}, f"no end after {patience} s"
    found = re.findall(r"^httpcache: http://[^ ]*/(\d+): (.*)$", lines, re.M)
    return {int(number): why for number, why in found}, "" if code in (0, 1) else f"exit status {code}: {lines[-300:]}"


upstream = f"http://127.0.0.1:{servers.started(Handler).server_address[1]}"
seen, total, failures, rows, lists = set(), collections.Counter(), 0, [], []
for place in sys.argv[2:]:
    name, figures, notes = os.path.basename(place.rstrip("/")), collections.Counter(), []
    for batch in batches(place, seen):
        with tempfile.TemporaryDirectory(prefix="images-") as work:
            out = os.path.join(work, "out")
            os.mkdir(out)
            bodies = {f"/{number}": body for number, (_, body) in enumerate(batch)}
            reasons, end = by_httpcache(range(len(batch)), PATIENCE * 5) if batch else ({}, "")
            for number, (file, body) in enumerate(batch):
                if end:
                    reasons, single = by_httpcache([number], PATIENCE)
                    if single:
                        failures += 1
                        print(f"FAIL {name} {file}: {single}", flush=True)
                refusal = reasons.get(number)
                result = os.path.join(out, f"{number}.png")
                try:
                    theirs, tolerance = by_pillow(body)
                except Exception as error:
                    kind, why = (3, repr(error)) if os.path.exists(result) else (1, f"{refusal} | {error!r}")
                else:
                    if os.path.exists(result):
                        ours = Image.open(result).convert("RGBA")
                        why = difference(ours, theirs, tolerance, is_halved(body))
                        third = by_third(body, ours, theirs) if why else ""
                        kind = 6 if third in ("djpeg", "heif-convert") else 5 if third else 4 if why else 0
                        why = f"{third}; {why}" if third else why
                    else:
                        kind, why = 2, refusal or "nothing was written"
                figures[KINDS[kind]] += 1
                if kind:
                    notes.append((KINDS[kind], file, why))
            if end:
                print(f"     {name}: a batch of {len(batch)} was repeated one by one: {end}", flush=True)
    total.update(figures)
    rows.append((name, figures))
    lists.append((name, notes))
    print(f"     {name}: {sum(figures.values())} files", flush=True)
print("| collection | files |", " | ".join(KINDS), "|\n|---|" + "---|" * (len(KINDS) + 1))
for name, figures in rows + [("all", total)]:
    print(f"| {name} | {sum(figures.values())} |", " | ".join(str(figures[kind]) for kind in KINDS), "|")
for kind in KINDS[2:] + ([KINDS[1]] if os.environ.get("ALL") else []):
    for name, notes in lists:
        for found, file, why in notes:
            if found == kind:
                print(f"{kind}: {name} {file}: {why}")
print(f"{sum(total.values())} passed, {failures} failed")
sys.exit(failures > 0)
