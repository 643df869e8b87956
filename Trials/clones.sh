#!/usr/bin/env bash
# Shows that a finished file takes its space once where files share blocks. Needs root, for an XFS in a file.
#
# clones.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
folder=$(mktemp -d)
mount=$folder/xfs
finish() {
  kill "$origin" 2>/dev/null || true
  umount "$mount" 2>/dev/null || true
  rm -rf "$folder"
}
origin=
trap finish EXIT
mkdir "$mount" "$folder/site"
truncate -s 1200M "$folder/image"
mkfs.xfs -q "$folder/image"
mount -o loop "$folder/image" "$mount"
head -c 200M /dev/urandom >"$folder/site/file"
python3 - "$folder/site" "$folder/port" <<'PY' &
import http.server, os, re, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        size = os.path.getsize(sys.argv[1] + "/file")
        first, end = 0, size
        asked = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            first = int(asked[1])
            end = min(size, int(asked[2]) + 1) if asked[2] else size
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{size}")
        for name, value in (("Content-Length", end - first), ("ETag", '"a"'), ("Cache-Control", "max-age=3600")):
            self.send_header(name, str(value))
        self.end_headers()
        with open(sys.argv[1] + "/file", "rb") as file:
            file.seek(first)
            left = end - first
            while left and (piece := file.read(min(left, 1 << 16))):
                self.wfile.write(piece)
                left -= len(piece)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[2], "w").write(str(server.server_port))
server.serve_forever()
PY
origin=$!
while [ ! -s "$folder/port" ]; do sleep 0.1; done
url=http://127.0.0.1:$(cat "$folder/port")/file
used() { sync; df --output=used -B1M "$mount" | tail -1 | tr -d ' '; }
for segments in 1 4; do
  before=$(used)
  "$program" get -q --queue q --dir "$mount/cache$segments" --capacity 1G --largest-entry 100% --min-free 0 \
    --segments "$segments" -o "$mount/out$segments" "$url"
  after=$(used)
  cmp "$mount/out$segments" "$folder/site/file"
  "$program" get -q --policy cache-only --dir "$mount/cache$segments" "$url" | cmp - "$folder/site/file"
  "$program" verify --dir "$mount/cache$segments" >/dev/null
  echo "$segments segment(s): a file of 200 MiB as an entry and at its destination takes $((after - before)) MiB"
  [ $((after - before)) -lt 260 ]
done
