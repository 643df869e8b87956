import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// The entries of the disk rows: heads of assets as a content network sends them.
struct DiskSample: Sendable {
  let request: HTTPRequest
  let record: CacheRecord
  let key: String

  /// - Parameter groups: how many entries of the store share a group; 0 for none.
  init(_ index: Int, kind: String = "entry", length: Int, groups: Int = 0) throws {
    // Paths in no order, like those with digests in their names.
    let digest = UInt64(index &+ 1) &* 0x9E37_79B9_7F4A_7C15
    let path = "/\(kind)/\(index % 10)/\(String(digest ^ digest >> 29, radix: 36))/\(index).js"
    request = Samples.request(1, path: path)
    guard let cacheKey = CacheKey(request: request, rules: CacheRules()),
      let stored = Samples.stored(request, Self.response, rules: CacheRules(mode: .private))
    else { throw BenchmarkError.misses(index) }
    key = cacheKey.target
    record = CacheRecord(
      key: cacheKey, response: stored, bodyLength: Int64(length),
      groups: groups > 0 ? ["group-\(index % groups)"] : [])
  }

  static let response: HTTPResponse = {
    var response = Samples.response(1)
    response.headerFields[.contentLength] = nil
    return response
  }()

  static func body(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

  /// The approximate size of such a record in an index, in bytes.
  static let recordLength = 420
}

/// Answers everything with one body.
final class OneBodyUpstream: Upstream {
  private let bytes: BodyBytes

  init(_ bytes: BodyBytes) { self.bytes = bytes }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    UpstreamResponse(head: DiskSample.response, body: MessageBody(bytes))
  }
}

/// A clock that stands still, so that entries stay fresh.
struct StandingClock: CacheClock {
  var now: Timestamp { Samples.now }
  var uptime: Duration { .zero }
  func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
