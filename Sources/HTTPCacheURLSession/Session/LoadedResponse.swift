import HTTPCaching

/// A response whose body has not been read.
struct LoadedResponse: Sendable {
  let response: URLResponse
  let body: MessageBody
  /// Nil for a response that did not come through the cache.
  let cached: CacheResponse?

  /// Whether the body came from the store, and not from the origin.
  var isFromStore: Bool { (cached?.outcome).isFromStore }

  /// The maximum number of bytes that are reserved before they arrive.
  private static let reserveLimit: Int64 = 16 << 20

  /// Notes the response, and returns it with a body that is counted; the response itself without a meter.
  func metered(_ meter: LoadMeter?, endsRequest: Bool) -> LoadedResponse {
    guard let meter else { return self }
    meter.note(self)
    let body = ObservedBody(body, ended: { _ in if endsRequest { meter.finish() } }) { count, _ in
      meter.received(count)
    }
    return LoadedResponse(response: response, body: MessageBody(body), cached: cached)
  }

  func data() async throws -> Data {
    if let bytes = body.bytesInMemory { return Data(bytes) }
    var data = Data()
    if let length = body.length { data.reserveCapacity(Int(min(length, Self.reserveLimit))) }
    for try await bytes in body {
      bytes.withUnsafeBytes { data.append(contentsOf: $0) }
    }
    return data
  }
}

extension CacheOutcome? {
  /// Whether the body came from the store, and not from the origin.
  var isFromStore: Bool {
    switch self {
    case .hit, .validated: true
    case .forwarded, .shared, .unsatisfiable, nil: false
    }
  }
}
