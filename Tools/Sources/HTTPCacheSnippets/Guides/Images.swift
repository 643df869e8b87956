// The Swift of docs/images.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheImages
import HTTPCacheURLSession
import HTTPCaching

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let images = ImageCache(cache: cache, upstream: URLSessionUpstream())
  let photo = try ImageRequest(
    "https://example.com/photo.jpg", processors: [.thumbnail(width: 256, height: 256)])
  let image = try await images.image(for: photo)
  print(image.width, image.height, image.pixel(x: 0, y: 0) ?? .zero)

  let avatar = try ImageRequest(
    "https://example.com/me.jpg",
    processors: [.resize(width: 96, height: 96, mode: .fill), .roundedCorners(radius: nil)],
    priority: .high)

  func show(_ request: ImageRequest, from images: ImageCache) async throws {
    for try await update in images.updates(for: request) {
      print(update.isPreview ? "preview" : "image", update.image.size)
    }
  }
}
