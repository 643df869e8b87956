package import HTTPCacheSemantics

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
    // Copies from the store below have no ticket: the store below compares them.
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
