import HTTPCacheSemantics

extension CacheRecord {
  /// Whether a stored response is more recent than this one, so that this one must not take its place (RFC 9111
  /// §4). The caller knows that the stored response became visible, or was freshened, after the request for this
  /// one was sent: a response that was asked for later replaces it whatever its `Date`, since an origin's clock
  /// may have been set back.
  ///
  /// Requests that overlap are compared by `Date`, as §4 says. Where the dates are equal or not known (a sealed
  /// record hides its own), the request that was sent later is the more recent; where that is not known
  /// either, this one is. An invalidated stored response is never the more recent, and one that is not
  /// invalidated always is if this one is invalidated: this one was overtaken.
  ///
  /// - Parameters:
  ///   - stored: a response with equal nominated fields.
  ///   - moment: when the request for it was sent, by `InvalidationTicket.nextMoment`; nil if another process
  ///     sent the request, or it is too long ago.
  package func isOlder(than stored: CacheRecord, askedForAt moment: UInt64?) -> Bool {
    // The same request: its record is changed, and no other response is stored.
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

  /// The record as it becomes visible in memory now.
  func madeVisible() -> CacheRecord { ticket.map { with(ticket: $0.madeVisible()) } ?? self }
}
