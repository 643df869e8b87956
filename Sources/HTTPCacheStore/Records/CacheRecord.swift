public import HTTPCacheSemantics
package import HTTPTypes
import Synchronization

/// One stored response without its body. Immutable: a change makes a new record.
public final class CacheRecord: Sendable {
  /// The key.
  public let key: CacheKey
  /// Head, trailers, times, nominated fields, facts.
  public let response: StoredResponse
  /// The length of the complete body in bytes; nil while it is unknown.
  public let bodyLength: Int64?
  /// The ranges of the body that are stored; nil for all of it.
  public let storedRanges: [Range<Int64>]?
  /// The names of its groups, scoped to its origin (RFC 9875).
  public let groups: [String]
  /// Opaque bytes that the caller keeps with the response.
  public let userInfo: [UInt8]
  /// Whether it came from content shipped with the app.
  public let isSeed: Bool
  /// Whether it is exempt from eviction; it still counts towards usage.
  public let isPinned: Bool
  /// Whether the response must not be written to disk.
  public let isMemoryOnly: Bool
  /// Whether the first bytes of the body are worth keeping when the transfer breaks off, because it can be
  /// continued. Used by the writer only; not stored.
  public let isResumable: Bool
  /// The store's number for the order of storing; 0 before it is stored.
  public let sequence: UInt64
  /// The ticket of the request for the response, or for the response that freshened it; nil lets the store
  /// choose. Not written to disk. See `CacheStore.ticket()`.
  public let ticket: InvalidationTicket?

  private let answered = Mutex<(age: Int64, head: HTTPResponse)?>(nil)

  /// Makes a record that is not stored yet.
  public convenience init(
    key: CacheKey, response: StoredResponse, bodyLength: Int64? = nil,
    storedRanges: [Range<Int64>]? = nil, groups: [String] = [], userInfo: [UInt8] = [],
    isSeed: Bool = false, isPinned: Bool = false, isMemoryOnly: Bool = false,
    isResumable: Bool = false, ticket: InvalidationTicket? = nil
  ) {
    self.init(
      key: key, response: response, bodyLength: bodyLength, storedRanges: storedRanges, groups: groups,
      userInfo: userInfo, isSeed: isSeed, isPinned: isPinned, isMemoryOnly: isMemoryOnly,
      isResumable: isResumable, sequence: 0, ticket: ticket)
  }

  /// Makes a record from all its properties. Copies and codecs use this initialiser, which has no default, so
  /// that the compiler finds each of them when a property is added.
  public init(
    key: CacheKey, response: StoredResponse, bodyLength: Int64?, storedRanges: [Range<Int64>]?,
    groups: [String], userInfo: [UInt8], isSeed: Bool, isPinned: Bool, isMemoryOnly: Bool,
    isResumable: Bool, sequence: UInt64, ticket: InvalidationTicket?
  ) {
    self.key = key
    self.response = response
    self.bodyLength = bodyLength
    self.storedRanges = storedRanges
    self.groups = groups
    self.userInfo = userInfo
    self.isSeed = isSeed
    self.isPinned = isPinned
    self.isMemoryOnly = isMemoryOnly
    self.isResumable = isResumable
    self.sequence = sequence
    self.ticket = ticket
  }

  /// The head of an answer (RFC 9111 §5.1). Answers within a second share one head, because copying the
  /// fields to add `Age` is a large part of the cost of a hit.
  ///
  /// - Parameter age: the current age in seconds.
  package func head(age: Int64) -> HTTPResponse {
    answered.withLock { last in
      if let last, last.age == age { return last.head }
      let head = response.head(age: age)
      last = (age, head)
      return head
    }
  }

  /// Whether the whole body is stored.
  public var isComplete: Bool { storedRanges == nil }

  /// A copy with some properties changed.
  public func with(
    response: StoredResponse? = nil, groups: [String]? = nil, userInfo: [UInt8]? = nil,
    isPinned: Bool? = nil, isMemoryOnly: Bool? = nil, ticket: InvalidationTicket? = nil
  ) -> CacheRecord {
    CacheRecord(
      key: key, response: response ?? self.response, bodyLength: bodyLength,
      storedRanges: storedRanges, groups: groups ?? self.groups,
      userInfo: userInfo ?? self.userInfo, isSeed: isSeed,
      isPinned: isPinned ?? self.isPinned, isMemoryOnly: isMemoryOnly ?? self.isMemoryOnly,
      isResumable: isResumable, sequence: sequence, ticket: ticket ?? self.ticket)
  }

  /// A copy with the number that a store gave it.
  public func with(sequence: UInt64) -> CacheRecord {
    CacheRecord(
      key: key, response: response, bodyLength: bodyLength, storedRanges: storedRanges, groups: groups,
      userInfo: userInfo, isSeed: isSeed, isPinned: isPinned, isMemoryOnly: isMemoryOnly,
      isResumable: isResumable, sequence: sequence, ticket: ticket)
  }

  /// A copy for another stored part of the body.
  ///
  /// - Parameters:
  ///   - ranges: the stored ranges of the body; nil for all of it.
  ///   - bodyLength: the length of the complete body in bytes; nil while it is unknown.
  public func storing(_ ranges: [Range<Int64>]?, bodyLength: Int64?) -> CacheRecord {
    CacheRecord(
      key: key, response: response, bodyLength: bodyLength, storedRanges: ranges, groups: groups,
      userInfo: userInfo, isSeed: isSeed, isPinned: isPinned, isMemoryOnly: isMemoryOnly,
      isResumable: isResumable, sequence: sequence, ticket: ticket)
  }
}

extension CacheRecord {
  // Memory besides the text: objects, the slots of the tables, the place in the order, the share of the sketch, and
  // the spare space of growing tables.
  private static var overhead: Int64 { 1_220 }
  // Two string headers, a name object, and the allocator's rounding.
  private static var fieldOverhead: Int64 { 64 }

  /// An estimate of the bytes of memory that the record takes, without the body.
  var memoryCost: Int64 {
    var cost = Self.overhead + Int64(key.target.utf8.count + key.partition.utf8.count)
    cost += Int64(key.contentDigest.count + userInfo.count)
    cost += Self.cost(of: response.head.headerFields) + Self.cost(of: response.trailers)
    // The head of the last answer shares the text.
    cost += Int64((response.head.headerFields.count + 1) * MemoryLayout<HTTPField>.stride)
    for field in response.nominated {
      cost += Self.fieldOverhead + Int64(field.name.rawName.utf8.count)
      switch field.value {
      case .absent: break
      case .text(let text): cost += Int64(text.utf8.count)
      case .digest(let digest): cost += Int64(digest.count)
      }
    }
    for group in groups { cost += Self.fieldOverhead + Int64(group.utf8.count) }
    return cost
  }

  private static func cost(of fields: HTTPFields) -> Int64 {
    fields.reduce(0) { sum, field in
      sum + fieldOverhead + Int64(field.name.rawName.utf8.count + field.withUnsafeBytesOfValue(\.count))
    }
  }
}

extension CacheRecord {
  /// Whether a stored response is more recent than this one, so that this one must not replace it (RFC 9111
  /// §4). The caller knows that the stored response became visible, or was freshened, after this one's
  /// request was sent. (The response to a later request always replaces the stored one, whatever its `Date`:
  /// an origin's clock may have been set back.)
  ///
  /// Requests that overlap are compared by `Date`, as §4 says. If the dates are equal or unknown (a sealed
  /// record hides its date), the response to the later request is the more recent; if the order is unknown
  /// too, this one is. An invalidated stored response is never the more recent. A stored response that is not
  /// invalidated is always the more recent if this one is invalidated, because this one was overtaken.
  ///
  /// - Parameters:
  ///   - stored: a response with equal nominated fields.
  ///   - moment: when its request was sent, by `InvalidationTicket.nextMoment`; nil if another process sent
  ///     it, or the time is no longer known.
  package func isOlder(than stored: CacheRecord, askedForAt moment: UInt64?) -> Bool {
    // It comes from this record's own request: only the record changes, and no other response is stored.
    if let moment, ticket?.moment == moment { return false }
    if stored.response.isInvalidated { return false }
    if response.isInvalidated { return true }
    if let own = response.dateField, let other = stored.response.dateField, own != other {
      return own < other
    }
    if let own = ticket?.moment, let moment { return own < moment }
    if response.requestTime != stored.response.requestTime {
      return response.requestTime < stored.response.requestTime
    }
    return response.responseTime < stored.response.responseTime
  }

  /// Whether a stored response must stay, and this one is not stored in its place or written over it: it was
  /// stored or freshened after this one's request was sent, has equal nominated fields, is complete and not
  /// invalidated, and is more recent (RFC 9111 §4). For a store that one process uses.
  ///
  /// - Parameter stored: a record of the same key that the store made visible with `madeVisible()`.
  public func isSuperseded(by stored: CacheRecord) -> Bool {
    guard stored.isComplete, stored.response.nominated == response.nominated else { return false }
    return isOutOfDate(besides: stored)
  }

  /// As `isSuperseded`, whatever the nominated fields and the stored part of the body are.
  func isOutOfDate(besides stored: CacheRecord) -> Bool {
    // Copies from the store below have no ticket, or one that was not made visible here: the store below compares them.
    guard let moment = ticket?.moment, let other = stored.ticket, other.visible > moment else { return false }
    return isOlder(than: stored, askedForAt: other.moment)
  }

  /// The record as it becomes visible in a store now. A store makes each record visible in the critical section
  /// that stores or updates it.
  public func madeVisible() -> CacheRecord { ticket.map { with(ticket: $0.madeVisible()) } ?? self }
}

extension CacheKey {
  /// Scheme and authority of the target (RFC 9110 §4.3.1), the scope of groups.
  package var origin: String { Self.origin(of: target) }

  /// Scheme and authority of a target; empty if it has none.
  package static func origin(of target: String) -> String {
    guard let colon = target.utf8.firstIndex(of: UInt8(ascii: ":")) else { return "" }
    let rest = target.utf8[colon...].dropFirst()
    guard rest.starts(with: "//".utf8) else { return "" }
    let end = rest.dropFirst(2).firstIndex {
      $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
    }
    return String(target[..<(end ?? target.endIndex)])
  }
}

extension CacheRecord {
  /// The record with newer header fields, and the groups that these fields name (RFC 9875 §2.1).
  package func freshened(_ response: StoredResponse) -> CacheRecord {
    with(response: response, groups: CacheGroups.names(of: response.head))
  }

  /// The stored part of the body; nil if all of it is stored.
  package var part: StoredPart? {
    storedRanges.map { StoredPart(ranges: $0, length: bodyLength) }
  }
}

extension [StoredVariant] {
  /// The stored part of each body; empty if all bodies are complete.
  package var parts: [StoredPart?] {
    allSatisfy(\.record.isComplete) ? [] : map(\.record.part)
  }
}
