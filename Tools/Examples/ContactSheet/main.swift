// Puts thumbnails of images on one sheet: ContactSheet SHEET.png URL...
import Foundation
import HTTPCacheImages
import HTTPCacheURLSession
import HTTPCaching

let arguments = CommandLine.arguments.dropFirst()
guard let sheetPath = arguments.first, arguments.count > 1 else {
  print("usage: ContactSheet SHEET.png URL...")
  exit(64)
}
let cache = try HTTPCache.open(.userCaches("com.example.contact-sheet"))
var settings = ImageCache.Configuration()
// The next run finds the thumbnails on disk, and decodes no photograph.
settings.variantEncoder = WebPEncoder(quality: nil)
let images = ImageCache(cache: cache, upstream: URLSessionUpstream(), configuration: settings)
let side = 160
let requests = try arguments.dropFirst().map { url in
  try ImageRequest(
    url, processors: [.resize(width: side, height: side, mode: .fill), .roundedCorners(radius: 12)])
}

let thumbnails = await loaded(requests, by: images)

let columns = min(5, requests.count)
let rows = (requests.count + columns - 1) / columns
let step = side + 16
let size = ImageSize(width: columns * step + 16, height: rows * step + 16)
var pixels = [UInt8](repeating: 0xF0, count: size.width * size.height * 4)
for (index, thumbnail) in thumbnails {
  let left = 16 + index % columns * step + (side - thumbnail.width) / 2
  let top = 16 + index / columns * step + (side - thumbnail.height) / 2
  for y in 0..<thumbnail.height {
    for x in 0..<thumbnail.width {
      guard let pixel = thumbnail.pixel(x: x, y: y) else { continue }
      let place = ((top + y) * size.width + left + x) * 4
      for channel in 0..<3 {
        let (over, under) = (Int(pixel[channel]), Int(pixels[place + channel]))
        pixels[place + channel] = UInt8((over * Int(pixel.w) + under * (255 - Int(pixel.w))) / 255)
      }
    }
  }
}
for index in stride(from: 3, to: pixels.count, by: 4) { pixels[index] = 255 }
let sheet = try DecodedImage(size: size, pixels: BodyBytes(pixels), isOpaque: true)
try Data(PNGEncoder().encode(sheet).array).write(to: URL(fileURLWithPath: sheetPath))
print("\(thumbnails.count) of \(requests.count) images on \(sheetPath)")
await cache.flush()
exit(thumbnails.count == requests.count ? 0 : 1)

/// Loads all images at once: the image cache keeps to its limits.
func loaded(_ requests: [ImageRequest], by images: ImageCache) async -> [Int: DecodedImage] {
  await withTaskGroup(of: (Int, DecodedImage?).self) { group in
    for (index, request) in requests.enumerated() {
      group.addTask {
        do { return (index, try await images.image(for: request)) } catch {
          print("\(request.request.path ?? ""): \(error)")
          return (index, nil)
        }
      }
    }
    var loaded: [Int: DecodedImage] = [:]
    for await (index, image) in group { loaded[index] = image }
    return loaded
  }
}
