// Puts thumbnails of images on one sheet: ContactSheet SHEET.png URL...
import Foundation
import HTTPCacheImages
import HTTPCacheURLSession
import HTTPCaching

let urls = CommandLine.arguments.dropFirst(2)
guard !urls.isEmpty else { exit(64) }
let cache = try HTTPCache.open(.userCaches("com.example.contact-sheet"))
var settings = ImageCache.Configuration()
// The next run finds the thumbnails on disk, and decodes no photograph.
settings.variantEncoder = WebPEncoder(quality: nil)
let images = ImageCache(cache: cache, upstream: URLSessionUpstream(), configuration: settings)
let side = 160

/// Loads all images at once: the image cache keeps to its limits.
let thumbnails = await withTaskGroup(of: (Int, DecodedImage?).self) { group in
  for (index, url) in urls.enumerated() {
    group.addTask {
      do {
        let request = try ImageRequest(url, processors: [.resize(width: side, height: side, mode: .fill)])
        return (index, try await images.image(for: request))
      } catch {
        print("\(url): \(error)")
        return (index, nil)
      }
    }
  }
  var loaded: [Int: DecodedImage] = [:]
  for await (index, image) in group { loaded[index] = image }
  return loaded
}

let (columns, step) = (min(5, urls.count), side + 16)
let rows = (urls.count + columns - 1) / columns
let size = ImageSize(width: columns * step + 16, height: rows * step + 16)
var pixels = [UInt8](repeating: 0xFF, count: size.width * size.height * 4)
for (index, thumbnail) in thumbnails {
  let (left, top) = (16 + index % columns * step, 16 + index / columns * step)
  for y in 0..<thumbnail.height {
    for x in 0..<thumbnail.width {
      guard let pixel = thumbnail.pixel(x: x, y: y) else { continue }
      for channel in 0..<3 { pixels[((top + y) * size.width + left + x) * 4 + channel] = pixel[channel] }
    }
  }
}
let sheet = try DecodedImage(size: size, pixels: BodyBytes(pixels), isOpaque: true)
try Data(PNGEncoder().encode(sheet).array).write(to: URL(fileURLWithPath: CommandLine.arguments[1]))
print("\(thumbnails.count) of \(urls.count) images on \(CommandLine.arguments[1])")
await cache.flush()
