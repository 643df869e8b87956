import HTTPCacheSemantics
public import HTTPCaching

/// The request for the rest of a part, and the decision about its response.
public struct PartContinuation: Sendable {
  /// The request.
  public let request: HTTPRequest
  /// The offset in the file at which the response must begin.
  public let offset: Int64
  /// The response that the bytes belong to.
  public let record: PartRecord
  private let usesStore: Bool

  /// The cache continues instead of the part if it lacks at most this many bytes of the part. A killed process loses up
  /// to 4 MiB of the bytes that it stores.
  public static let slack: Int64 = 8 << 20

  /// - Parameters:
  ///   - request: the request for the whole file, without content.
  ///   - part: the bytes so far.
  ///   - policy: how the request uses the cache.
  ///   - scope: that of the request, as in `PartRecord`.
  /// - Returns: nil if the bytes are of another URL or scope, or the policy asks for the whole again, or not at all.
  public init?(of request: HTTPRequest, part: PartFile, policy: CachePolicy, scope: String = "") {
    switch policy {
    case .reload, .reloadEverywhere, .cacheOnly: return nil
    case .standard, .revalidate, .cacheElseNetwork, .bypass, .networkElseCache: break
    }
    guard let record = part.record, record.belongs(to: request, scope: scope), let offset = part.offset
    else { return nil }
    self.offset = offset
    self.record = record
    usesStore = policy != .bypass
    self.request = record.request(request, for: offset..<(record.length ?? .max))
  }

  /// Judges the response.
  ///
  /// - Parameters:
  ///   - response: its head.
  ///   - target: the URL that answered.
  ///   - now: when the response arrived.
  public func answer(_ response: HTTPResponse, from target: String, now: Timestamp) -> PartRecord.Answer {
    let asked = offset..<(record.length ?? .max)
    let answer = record.answer(response, from: target, to: asked, now: now)
    // The rest must be all of it.
    let length = record.length ?? PartialContent.part(of: response)?.length
    if case .rest(let range) = answer, range.upperBound != length { return .useless(isChanged: false) }
    return answer
  }

  /// Whether the cache continues the body, because it has about as many bytes as the part: then the response is stored,
  /// and a transfer that runs for another request is shared.
  ///
  /// - Parameters:
  ///   - cache: the cache that `whole` goes through.
  ///   - whole: the request for the whole file.
  ///   - partition: as in `RequestOptions.partition`.
  public func isCovered(
    by cache: HTTPCache, for whole: HTTPRequest, partition: String = ""
  ) async -> Bool {
    guard usesStore else { return false }
    let stored = await cache.storedBytes(of: whole, partition: partition) { head in
      record.isPart(of: head) && head.headerFields[.contentEncoding] == record.fields[.contentEncoding]
    }
    return stored > 0 && stored >= offset - Self.slack
  }

  /// Whether the part goes on instead of the response to a request for the whole, which the cache could not continue: for
  /// example, redirects have led to a URL of which nothing is stored. The response has the entity tag of the part.
  ///
  /// - Parameters:
  ///   - whole: the response.
  ///   - now: when it arrived.
  public func goesOn(insteadOf whole: CacheResponse, now: Timestamp) -> Bool {
    // An origin that ignored the range of the cache would ignore that of the part.
    guard case .forwarded(let reason, status: 200, _, collapsed: false) = whole.outcome,
      reason != .miss(.partial), record.fields[.eTag] != nil,
      whole.head.headerFields[.contentEncoding] == record.fields[.contentEncoding],
      case .whole(isChanged: false) = answer(whole.head, from: whole.finalTarget, now: now)
    else { return false }
    return true
  }

  /// Whether a response to the request for the whole may take the place of the part: it has a whole representation (a
  /// 206 may be all of it), or is no answer for a file, such as a redirect. Any other success, such as 204, and an
  /// error have nothing of the file: the part stays until the whole has come.
  ///
  /// - Parameter status: the status code.
  public static func mayReplacePart(status: Int) -> Bool {
    (200..<400).contains(status) && !PartialContent.hasNoRepresentation(status: status)
  }
}
