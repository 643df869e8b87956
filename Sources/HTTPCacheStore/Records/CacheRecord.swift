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
