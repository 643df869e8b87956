#!/usr/bin/env bash
# Makes the pictures of this folder with ImageMagick, exiftool and the tools of libwebp: sources, and what ImageMagick makes of them.
cd "$(dirname "$0")"
set -euo pipefail
find . \( -name "*.png" -o -name "*.jpg" -o -name "*.webp" \) ! -name "heif-*" -delete

png=(-depth 8 -strip -define png:compression-level=9)
convert -seed 7 -size 120x80 plasma:tomato-navy "${png[@]}" plasma.png
convert -size 120x80 xc:white -stroke black -fill orange -draw 'line 0,79 119,0 circle 60,40 60,12' \
  -draw 'line 0,5 119,9' "${png[@]}" PNG24:edges.png
convert -seed 9 -size 120x80 xc:gray50 -attenuate 0.5 +noise Gaussian -blur 0x0.7 "${png[@]}" noise.png
convert -seed 3 -size 120x80 plasma:green-yellow -alpha set -channel A -fx '1-i/w*0.9' "${png[@]}" alpha.png

for name in plasma edges noise alpha; do
  convert $name.png -resize 50x50 "${png[@]}" $name-fit-50x50.png
  convert $name.png -resize 31x31^ -gravity center -background none -extent 31x31 "${png[@]}" $name-fill-31x31.png
  convert $name.png -resize '37x61!' "${png[@]}" $name-stretch-37x61.png
  convert $name.png -resize 150x150 "${png[@]}" $name-enlarge-150x150.png
  convert $name.png -crop 33x21+40+17 +repage "${png[@]}" $name-crop-33x21.png
done

for orientation in 1 2 3 4 5 6 7 8; do
  convert plasma.png -resize 48x32 -sampling-factor 4:4:4 -quality 95 orientation-$orientation.jpg
  exiftool -q -n -overwrite_original -Orientation=$orientation orientation-$orientation.jpg
  convert orientation-$orientation.jpg -auto-orient "${png[@]}" orientation-$orientation.png
done

# Kinds of PNG and JPEG, and the pixels that ImageMagick sees in them.
convert plasma.png -resize 24x16 -depth 16 -define png:bit-depth=16 -strip kind-16-bit.png
convert plasma.png -resize 24x16 -colorspace Gray -depth 8 -strip kind-gray.png
convert plasma.png -resize 24x16 -colors 5 -strip PNG8:kind-palette.png
convert plasma.png -resize 24x16 -interlace PNG -depth 8 -strip kind-interlaced.png
convert plasma.png -resize 24x16 -monochrome -strip kind-1-bit.png
convert plasma.png -resize 24x16 -strip -colorspace Gray -quality 95 kind-gray.jpg
convert plasma.png -resize 24x16 -strip -quality 95 -sampling-factor 2x2 kind-420.jpg
convert plasma.png -resize 24x16 -strip -quality 95 -interlace JPEG kind-progressive.jpg
convert plasma.png -resize 24x16 -strip -colorspace CMYK -quality 95 kind-cmyk.jpg
convert alpha.png -resize 24x16 -colorspace Gray -depth 8 -strip kind-gray-alpha.png
convert edges.png -resize 24x16 -colors 5 -fuzz 10% -transparent white -strip PNG8:kind-palette-alpha.png
convert plasma.png -resize 24x16 -colorspace Gray -depth 16 -define png:bit-depth=16 -strip kind-16-bit-gray.png
convert plasma.png -resize '24x16!' first.png
convert edges.png -resize '24x16!' second.png
img2webp -lossless -d 100 first.png second.png -o kind-animated.webp >/dev/null
cwebp -quiet -lossless first.png -o kind-lossless.webp
cwebp -quiet -q 90 alpha.png -resize 24 16 -o kind-alpha.webp
rm first.png second.png
for file in kind-*; do convert "${file}[0]" -colorspace sRGB "${png[@]}" "PNG32:pixels-$file.png"; done

# heif-opaque and heif-alpha, in PNG and as AVIF and HEIC of quality 98 without subsampling, are from Pillow 13.0 with pillow-heif
# 1.8: plasma.png and alpha.png, resized to 48x32. ImageMagick of Debian 12 writes neither.
