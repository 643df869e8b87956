#!/usr/bin/env python3
"""Images that other programs made, decoded by httpcache image and by Pillow: images.py HTTPCACHE FOLDER [WORST]

FOLDER has a folder for each collection, such as an unpacked source package; files count by their first bytes. Needs
Pillow, and pillow-heif for HEIC. Each image is fetched from a server on loopback and written as PNG. Equal is a
difference of at most 2 of 255 for each sample of PNG and GIF; of other formats, whose decoding may differ, a mean of at
most 1.5, or with WORST the 99th percentile of at most WORST. Pixels that cannot be seen have no color. Ends with status
1 if an image differs, or if the program ends otherwise than it says.
"""
import collections, os, subprocess, sys, tempfile, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers
from PIL import Image, ImageChops, ImageFile, ImageOps, ImageStat
try:
    import pillow_heif
    pillow_heif.register_heif_opener()
except ImportError:
    pass

PROGRAM, FOLDER = sys.argv[1], os.path.abspath(sys.argv[2])
WORST = int(sys.argv[3]) if len(sys.argv) > 3 else None
BATCH = 40
Image.MAX_IMAGE_PIXELS = None


class Origin(servers.Handler):
    def do_GET(self):
        with open(urllib.parse.unquote(self.path), "rb") as file:
            data = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def kind(path):
    with open(path, "rb") as file:
        head = file.read(16)
    for name, start in (("JPEG", b"\xff\xd8\xff"), ("PNG", b"\x89PNG\r\n\x1a\n"), ("GIF", b"GIF8")):
        if head.startswith(start):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    brands = (b"avif", b"avis", b"heic", b"heix", b"heim", b"mif1")
    return "HEIF" if head[4:8] == b"ftyp" and head[8:12] in brands else None


def images(collection):
    for folder, _, names in sorted(os.walk(f"{FOLDER}/{collection}")):
        for path in sorted(os.path.join(folder, name) for name in names):
            if os.path.isfile(path) and not os.path.islink(path) and kind(path):
                yield path


def rgba(image):
    """The pixels as the program gives them: 8 bits, upright."""
    image.load()
    if image.format in ("JPEG", "PNG", "WEBP"):
        image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):
        image = image.point(lambda value: value / 256).convert("L")
    return image.convert("RGBA")


def difference(mine, path):
    """Nothing if the pictures are equal; otherwise how they differ. Pillow's own error if it cannot read the file."""
    with Image.open(path) as image:
        theirs = rgba(image)
    with Image.open(mine) as image:
        ours = rgba(image)
    if ours.size != theirs.size:
        return f"{ours.size} is {theirs.size}"
    black = Image.new("RGBA", ours.size)
    seen = [Image.composite(one, black, one.getchannel("A").point(lambda alpha: 255 if alpha else 0))
            for one in (ours, theirs)]
    changed = ImageChops.difference(*seen)
    most, statistics = [high for _, high in changed.getextrema()], ImageStat.Stat(changed)
    if max(most) <= 2:
        return None
    if kind(path) in ("PNG", "GIF"):
        return f"up to {max(most)}, {max(statistics.mean):.2f} on average"
    counts = [sum(changed.histogram()[value::256]) for value in range(256)]
    above = next(value for value in range(256) if sum(counts[value + 1:]) <= sum(counts) / 100)
    isEqual = above <= WORST if WORST is not None else max(statistics.mean) <= 1.5
    return None if isEqual else f"up to {max(most)}, {max(statistics.mean):.2f} on average, p99 {above}"


def decode(paths, base):
    """For each path the file that the program wrote, and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(paths):
            # A name of its own for each, which the program gives to what it writes.
            os.symlink(path, f"{folder}/{number}.image")
        os.mkdir(f"{folder}/out")
        run = subprocess.run(
            [PROGRAM, "image", "--dir", f"{folder}/cache", "--format", "png", "-o", f"{folder}/out",
             *(f"{base}{folder}/{number}.image" for number in range(len(paths)))],
            capture_output=True, text=True)
        said = {}
        for line in run.stderr.splitlines():
            for number in range(len(paths)):
                if f"/{number}.image" in line:
                    said[number] = line.split(f"/{number}.image", 1)[1].lstrip(": ")
        yield run.returncode
        for number, path in enumerate(paths):
            mine = f"{folder}/out/{number}.png"
            yield path, mine if os.path.exists(mine) else None, said.get(number, "")


def main():
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    base = f"http://127.0.0.1:{servers.started(Origin).server_address[1]}"
    total, lists, isWrong = collections.Counter(), collections.defaultdict(list), False
    print("| collection | images | equal | refused by both | by the program alone | by Pillow alone | different |\n"
          "|---|---:|---:|---:|---:|---:|---:|")
    for collection in sorted(os.listdir(FOLDER)):
        paths, count = list(images(collection)), collections.Counter()
        for start in range(0, len(paths), BATCH):
            results = decode(paths[start:start + BATCH], base)
            if next(results) not in (0, 1):
                isWrong = True
                lists["the program ended"].append(f"{collection}, images {start} to {start + BATCH}")
            for path, mine, said in results:
                try:
                    text = difference(mine, path) if mine else rgba(Image.open(path)) and None
                    outcome = "different" if text else "equal" if mine else "here"
                except Exception as error:
                    outcome, text = ("there", repr(error)) if mine else ("both", "")
                count[outcome] += 1
                if outcome in ("different", "here", "there"):
                    lists[outcome].append(f"{kind(path)} {os.path.relpath(path, FOLDER)}: {text or said}")
        total.update(count)
        if paths:
            row(collection, count)
    row("all", total)
    for name, lines in lists.items():
        print(f"\n{name}:", *lines, sep="\n  ")
    sys.exit(isWrong or total["different"] > 0)


def row(name, count):
    print(f"| {name} | {sum(count.values())} | " + " | ".join(
        str(count[outcome]) for outcome in ("equal", "both", "here", "there", "different")) + " |", flush=True)


if __name__ == "__main__":
    main()
