// Linked with libFuzzer and HTTPCacheImages by scripts/fuzz-driver.sh.
import Glibc
import HTTPCacheImages
import HTTPCaching

private let limit = 100_000

/// The function that libFuzzer calls for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
  let bytes = BodyBytes(Array(UnsafeRawBufferPointer(start: start, count: count)))
  let size = try? ImageFormats.standard.size(of: bytes)
  for needed in [nil, ImageSize(width: 2, height: 2)] {
    let options = ImageDecodingOptions(pixelLimit: limit, neededSize: needed)
    guard let image = try? ImageFormats.standard.decode(bytes, options: options) else { continue }
    check(image.width > 0 && image.height > 0 && image.width * image.height <= limit, "the limit of pixels")
    if needed == nil { check(size == image.size, "the size in the header") }
    check(image.pixel(x: image.width - 1, y: image.height - 1) != nil, "the last pixel")
    check((try? ResizeProcessor(width: 3, height: 3, mode: .fill).process(image)) != nil, "a thumbnail")
  }
  return 0
}

private func check(_ holds: Bool, _ rule: String) {
  guard !holds else { return }
  // Do not use `print`: buffered output would be lost.
  let text = Array("violated: \(rule)\n".utf8)
  write(STDERR_FILENO, text, text.count)
  abort()
}
