import NIOCore
import NIOHTTP1

/// The resources of the demo's origin.
enum DemoResource: String, CaseIterable, Sendable {
  case page = "/index.html"
  case image = "/image.png"
  case api = "/api/status"
  case file = "/large.bin"
  case document = "/account"

  /// The name of the resource in the table.
  var purpose: String {
    switch self {
    case .page: "a page, max-age"
    case .image: "an image, immutable"
    case .api: "an API, no-cache and ETag"
    case .file: "a 64 MiB file"
    case .document: "a document, no-store"
    }
  }

  /// The outcome that the second fetch must have (`OutcomeText.word`).
  var expectedWord: String {
    switch self {
    case .page, .image, .file: "hit"
    case .api: "revalidated"
    case .document: "miss"
    }
  }

  /// The fields of the response, without `Content-Length`.
  var fields: HTTPHeaders {
    switch self {
    case .page: ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "max-age=600"]
    case .image: ["Content-Type": "image/png", "Cache-Control": "max-age=31536000, immutable"]
    case .api: ["Content-Type": "application/json", "Cache-Control": "no-cache", "ETag": "\"v1\""]
    case .file:
      ["Content-Type": "application/octet-stream", "Cache-Control": "max-age=3600", "ETag": "\"f1\""]
    case .document: ["Content-Type": "text/plain", "Cache-Control": "no-store"]
    }
  }

  /// One block of its body, which is sent `repetitions` times.
  var block: [UInt8] {
    switch self {
    case .page:
      Array("<!doctype html><title>httpcache</title><img src=\"/image.png\">\n".utf8)
    case .image: [UInt8](repeating: 0x2A, count: 192_000)
    case .api: Array("{\"status\":\"fine\"}\n".utf8)
    case .file: (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    case .document: Array("for your eyes only\n".utf8)
    }
  }

  /// Number of times that the block is sent.
  var repetitions: Int { self == .file ? 1024 : 1 }
}
