import Foundation
import HTTPCacheImages
import HTTPCaching
import HTTPTypes
import Synchronization

/// A decoded image in memory, beside what any image cache must do at least: look into a dictionary under a lock.
enum HitRows {
  private static let count = 200
  private static let calls = 2_000

  static func run() async throws {
    let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 64 << 20))
    let images = ImageCache(cache: cache, upstream: PictureOrigin())
    let requests = try (0..<count).map { number in
      try ImageRequest(
        "https://www.example.com/photos/\(number).png", processors: [.thumbnail(width: 32, height: 32)])
    }
    let dictionary = Mutex<[String: DecodedImage]>([:])
    let names = (0..<count).map { "https://www.example.com/photos/\($0).png thumbnail(32x32)" }
    for (name, request) in zip(names, requests) {
      let image = try await images.image(for: request)
      dictionary.withLock { $0[name] = image }
    }
    let clock = ContinuousClock()
    var (hits, lookUps): ([Double], [Double]) = ([], [])
    for round in 0..<400 {
      let hit = try clock.measure {
        for call in 0..<calls where images.imageInMemory(for: requests[(call + round) % count]) == nil {
          throw Missed()
        }
      }
      let lookUp = try clock.measure {
        for call in 0..<calls {
          let name = names[(call + round) % count]
          if dictionary.withLock({ $0[name] }) == nil { throw Missed() }
        }
      }
      hits.append(hit / .nanoseconds(calls))
      lookUps.append(lookUp / .nanoseconds(calls))
    }
    let (ours, floor) = (median(hits), median(lookUps))
    print("| row | ns, median of \(hits.count) rounds | ratio |\n|---|---:|---:|")
    print("| a dictionary under a lock | \(Int(floor)) | 1.00 |")
    print("| `ImageCache.imageInMemory` | \(Int(ours)) | \(String(format: "%.2f", ours / floor)) |")
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private struct Missed: Error {}
}

/// Answers each request with the same picture, fresh for an hour.
private struct PictureOrigin: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    guard let image = try? Photographs.picture(64, 48), let bytes = try? PNGEncoder().encode(image) else {
      throw UpstreamError(.protocol, "no picture")
    }
    return UpstreamResponse(
      head: HTTPResponse(
        status: .ok, headerFields: [.cacheControl: "max-age=3600", .contentType: "image/png"]),
      body: MessageBody(bytes))
  }
}
