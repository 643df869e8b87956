public import HTTPCacheSemantics
package import HTTPTypes
import Synchronization

/// Everything known of one stored response but its body. Immutable: a change makes a new record.
public final class CacheRecord: Sendable {
  /// What it is found by.
  public let key: CacheKey
  /// Head, trailers, times, nominated fields, facts.
  public let response: StoredResponse
  /// The length of the complete body in bytes; nil while it is not known.
  public let bodyLength: Int64?
  /// The ranges of the body that are stored; nil for all of it.
  public let storedRanges: [Range<Int64>]?
  /// Names of the groups it belongs to, scoped to its origin (RFC 9875).
  public let groups: [String]
  /// Opaque bytes of the door's caller, kept with the response.
  public let userInfo: [UInt8]
  /// Whether it came from content shipped with the app.
  public let isSeed: Bool
  /// Keeps it from eviction; it still counts.
  public let isPinned: Bool
  /// Whether it may go to disk.
  public let isMemoryOnly: Bool
  /// Whether what has arrived of it is worth keeping when the transfer breaks off, since it can be
  /// continued. For the writer only; not stored.
  public let isResumable: Bool
  /// The order of storing within a store, given by the store; 0 before.
  public let sequence: UInt64
  /// When the response, or the one that freshened it, was asked for; nil leaves it to the store. Not written
  /// to disk. See `CacheStore.ticket()`.
  public let ticket: InvalidationTicket?

  private let answered = Mutex<(age: Int64, head: HTTPResponse)?>(nil)

  /// Makes a record.
  public init(
    key: CacheKey, response: StoredResponse, bodyLength: Int64? = nil,
    storedRanges: [Range<Int64>]? = nil, groups: [String] = [], userInfo: [UInt8] = [],
    isSeed: Bool = false, isPinned: Bool = false, isMemoryOnly: Bool = false,
    isResumable: Bool = false, sequence: UInt64 = 0, ticket: InvalidationTicket? = nil
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

  /// The head of an answer (RFC 9111 §5.1). Answers within a second share one, since what a hit costs
  /// is for a large part the copy of the fields that `Age` is put into.
  ///
  /// - Parameter age: the current age in seconds.
  package func head(age: Int64) -> HTTPResponse {
    answered.withLock { last in
      if let last, last.age == age { return last.head }
      let head = ResponseHead.fromStore(response, age: age)
      last = (age, head)
      return head
    }
  }

  /// Whether the whole body is stored.
  public var isComplete: Bool { storedRanges == nil }

  /// A copy with some properties changed.
  public func with(
    response: StoredResponse? = nil, bodyLength: Int64? = nil, groups: [String]? = nil,
    userInfo: [UInt8]? = nil, isPinned: Bool? = nil, isMemoryOnly: Bool? = nil,
    sequence: UInt64? = nil, ticket: InvalidationTicket? = nil
  ) -> CacheRecord {
    CacheRecord(
      key: key, response: response ?? self.response, bodyLength: bodyLength ?? self.bodyLength,
      storedRanges: storedRanges, groups: groups ?? self.groups,
      userInfo: userInfo ?? self.userInfo, isSeed: isSeed,
      isPinned: isPinned ?? self.isPinned, isMemoryOnly: isMemoryOnly ?? self.isMemoryOnly,
      isResumable: isResumable, sequence: sequence ?? self.sequence,
      ticket: ticket ?? self.ticket)
  }

  /// The same record for another part of its body.
  ///
  /// - Parameters:
  ///   - ranges: what is stored of the body; nil for all of it.
  ///   - bodyLength: the length of the complete body in bytes; nil while it is not known.
  public func storing(_ ranges: [Range<Int64>]?, bodyLength: Int64?) -> CacheRecord {
    CacheRecord(
      key: key, response: response, bodyLength: bodyLength, storedRanges: ranges, groups: groups,
      userInfo: userInfo, isSeed: isSeed, isPinned: isPinned, isMemoryOnly: isMemoryOnly,
      isResumable: isResumable, sequence: sequence, ticket: ticket)
  }
}
