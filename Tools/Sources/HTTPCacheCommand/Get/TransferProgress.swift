import HTTPCaching

/// How far the transfer of a response has come.
struct TransferProgress {
  /// The URL that answered; nil before the head.
  private(set) var target: String?
  /// Whether the origin answered.
  private(set) var isForwarded = false
  /// Bytes that were there before, in a part file.
  private(set) var start: Int64 = 0
  /// Bytes that the cache had of a response that the origin completes, and bytes that the origin sends.
  private(set) var cached: (start: Int64, fetched: Int64)?
  /// Bytes of the body that were written.
  var received: Int64 = 0
  /// The length of the whole in bytes, if it is known.
  var length: Int64?
  /// What is known of the response to continue it; nil if that is not possible.
  var record: PartRecord?
  /// The fields of the response.
  private(set) var fields: HTTPFields = [:]
  /// The body.
  private(set) var body: MessageBody?
  private var isDecoded = false

  /// Where the bar of progress begins.
  var shownStart: Int64 { isDecoded ? 0 : cached?.start ?? start }

  /// The head is there.
  ///
  /// - Parameters:
  ///   - start: bytes that the body is written behind.
  ///   - seen: what the origin's response was.
  mutating func began(_ response: CacheResponse, from start: Int64, _ seen: ObservedUpstream.Seen) {
    target = response.finalTarget
    self.start = start
    body = response.body
    fields = response.head.headerFields
    let whole = start > 0 ? PartialContent.part(of: response.head)?.length : nil
    length = whole ?? response.body.length.map { $0 + start }
    guard case .forwarded(_, let status, _, let isCollapsed) = response.outcome, !isCollapsed else { return }
    isForwarded = true
    // The cache makes a 200 of its own part and the origin's 206.
    if status == 206, response.head.status.code == 200, let range = seen.range {
      cached = (range.lowerBound, Int64(range.count))
    }
  }

  /// The body is written without its coding: nothing tells its length, and octets are counted otherwise than
  /// in the ranges of the origin and the cache.
  mutating func decode(to decoded: MessageBody) {
    body = decoded
    length = nil
    isDecoded = true
  }
}
