import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A response whose body has not been read.
struct LoadedResponse: Sendable {
  let response: URLResponse
  let body: MessageBody
  /// Nil for what did not come through the cache.
  let cached: CacheResponse?

  /// Whether the body was read from the store, and not from the origin just now.
  var isFromStore: Bool {
    switch cached?.outcome {
    case .hit, .validated: true
    case .forwarded, .unsatisfiable, nil: false
    }
  }

  /// Bytes that are reserved before they have come, at most.
  private static let reserveLimit: Int64 = 16 << 20

  func data() async throws -> Data {
    var data = Data()
    if let length = body.length { data.reserveCapacity(Int(min(length, Self.reserveLimit))) }
    for try await bytes in body {
      bytes.withUnsafeBytes { data.append(contentsOf: $0) }
    }
    return data
  }
}
