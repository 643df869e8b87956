import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCaching

/// The progress of the transfer of a response.
struct TransferProgress {
  /// The URL that answered; nil before the head arrives.
  private(set) var target: String?
  /// Whether the origin answered.
  private(set) var isForwarded = false
  /// Bytes in the part file before this transfer.
  private(set) var start: Int64 = 0
  /// Bytes that the cache had of an incomplete response, and bytes that the origin sends to complete it.
  private(set) var cached: (start: Int64, fetched: Int64)?
  /// Bytes of the body that were written.
  var received: Int64 = 0
  /// The length of the whole body in bytes, if known.
  var length: Int64?
  /// The record to continue the response; nil if it cannot be continued.
  var record: PartRecord?
  /// The fields of the response.
  private(set) var fields: HTTPFields = [:]
  /// The body.
  private(set) var body: MessageBody?
  /// Whether the body is written without its content coding.
  private(set) var isDecoded = false

  /// The position at which the progress bar begins.
  var shownStart: Int64 { isDecoded ? 0 : cached?.start ?? start }

  /// Notes the head of the response.
  ///
  /// - Parameters:
  ///   - start: the offset at which the body is written.
  ///   - seen: facts about the origin's response.
  mutating func began(_ response: CacheResponse, from start: Int64, _ seen: ObservedUpstream.Seen) {
    target = response.finalTarget
    self.start = start
    body = response.body
    fields = response.head.headerFields
    let whole = start > 0 ? PartialContent.part(of: response.head)?.length : nil
    length = whole ?? response.body.length.map { $0 + start }
    guard case .forwarded(_, let status, _, let isCollapsed) = response.outcome, !isCollapsed else { return }
    isForwarded = true
    // The cache combines its own part and the origin's 206 to a 200.
    if status == 206, response.head.status.code == 200, let range = seen.range {
      cached = (range.lowerBound, Int64(range.count))
    }
  }

  /// Notes that the body is written decoded: its length is unknown, and its octets are not those that the ranges of
  /// the origin and the cache count.
  mutating func decode(to decoded: MessageBody) {
    body = decoded
    length = nil
    isDecoded = true
  }
}
