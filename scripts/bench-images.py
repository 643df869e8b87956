#!/usr/bin/env python3
"""The tables of images in docs/performance.md: hits in memory, and thumbnails beside other programs in one run.

    bench-images.py PROGRAM [COUNT]

PROGRAM is the built image-benchmark. vipsthumbnail (Debian: libvips-tools) and mogrify (imagemagick) are left out
where they are not installed.
"""
import os, resource, shutil, subprocess, sys, tempfile

PROGRAM = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 100


def measured(command):
    """Processor seconds of a command and its children, and its peak memory in MiB."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(write, b"%f %d" % (usage.ru_utime + usage.ru_stime, usage.ru_maxrss))
        os._exit(0)
    os.close(write)
    text = os.read(read, 100).decode().split()
    os.waitpid(child, 0)
    if not text:
        sys.exit("%s failed" % command[0])
    return float(text[0]), int(text[1]) / 1024


def main():
    subprocess.run([PROGRAM], check=True)
    print()
    folder = tempfile.mkdtemp(prefix="httpcache-images-")
    try:
        source = os.path.join(folder, "source")
        os.mkdir(source)
        subprocess.run([PROGRAM, "photographs", source, str(COUNT)], check=True)
        files = sorted(os.path.join(source, name) for name in os.listdir(source))
        rows = []

        def row(name, command):
            if shutil.which(command[0]):
                rows.append((name, *measured(command)))

        target = os.path.join(folder, "target")
        os.mkdir(target)
        row("HTTPCacheImages", [PROGRAM, "thumbnails", source, target])
        row("`vipsthumbnail -s 256`", ["vipsthumbnail", "-s", "256", "-o", os.path.join(target, "v-%s.jpg"), *files])
        row("`mogrify -define jpeg:size=512x512 -resize 256x256`",
            ["mogrify", "-path", target, "-define", "jpeg:size=512x512", "-resize", "256x256", *files])
        mean = sum(os.path.getsize(file) for file in files) / len(files) / 1e6
        print("%d JPEGs of 4000 x 3000 pixels, %.1f MB each\n" % (len(files), mean))
        print("| | processor time, s | ratio | peak memory, MiB |\n|---|---|---|---|")
        for name, seconds, memory in rows:
            print("| %s | %.1f | %.2f | %.0f |" % (name, seconds, seconds / rows[0][1], memory))
    finally:
        shutil.rmtree(folder)


main()
