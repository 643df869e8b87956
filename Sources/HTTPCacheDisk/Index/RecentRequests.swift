import HTTPCacheStore
import Synchronization

/// When requests were sent whose responses a store has committed or freshened of late: where two responses have
/// the same `Date`, the request that was sent later has the more recent one (RFC 9111 §4).
final class RecentRequests: Sendable {
  private struct Place {
    var sequence: UInt64 = 0
    var moment: UInt64 = 0
  }

  private static let count = 1_024
  private let places = Mutex([Place](repeating: Place(), count: RecentRequests.count))

  /// A row has this record from now on.
  func note(_ record: CacheRecord) {
    let place = Place(sequence: record.sequence, moment: record.ticket?.moment ?? 0)
    places.withLock { $0[Self.index(of: record)] = place }
  }

  /// When the request was sent whose response made a row what it is; nil if that is not known.
  func moment(of record: CacheRecord) -> UInt64? {
    let place = places.withLock { $0[Self.index(of: record)] }
    return place.sequence == record.sequence && place.moment > 0 ? place.moment : nil
  }

  private static func index(of record: CacheRecord) -> Int {
    Int(truncatingIfNeeded: record.sequence) & (count - 1)
  }
}
