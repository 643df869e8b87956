import HTTPCacheStore
import Synchronization

/// The times when the requests were sent for responses that the store recently committed or freshened. If two
/// responses have the same `Date`, the response to the later request is more recent (RFC 9111 §4).
final class RecentRequests: Sendable {
  private struct Place {
    var sequence: UInt64 = 0
    var moment: UInt64 = 0
  }

  private static let count = 1_024
  private let places = Mutex([Place](repeating: Place(), count: RecentRequests.count))

  /// Notes the request of a record that was written to a row.
  func note(_ record: CacheRecord) {
    let place = Place(sequence: record.sequence, moment: record.ticket?.moment ?? 0)
    places.withLock { $0[Self.index(of: record)] = place }
  }

  /// The time when the request was sent for the response that last wrote a row; nil if the time is unknown.
  func moment(of record: CacheRecord) -> UInt64? {
    let place = places.withLock { $0[Self.index(of: record)] }
    return place.sequence == record.sequence && place.moment > 0 ? place.moment : nil
  }

  private static func index(of record: CacheRecord) -> Int {
    Int(truncatingIfNeeded: record.sequence) & (count - 1)
  }
}
