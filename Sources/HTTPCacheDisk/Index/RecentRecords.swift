import HTTPCacheLibC
import HTTPCacheStore
import Synchronization

/// Recently decoded records. A record is used again only if the bytes in the index are equal to the bytes it
/// was decoded from, so it needs no notice of changes to rows.
final class RecentRecords: Sendable {
  /// The values beside its bytes that a record was decoded with.
  struct Circumstances: Equatable {
    let sequence: UInt64
    let isInvalidated: Bool
    let isExpired: Bool
  }

  private struct Place {
    /// The sequence of the last row that was read in this place. Its record is kept when the row is read again.
    var latest: UInt64 = 0
    var bytes: [UInt8] = []
    var circumstances = Circumstances(sequence: 0, isInvalidated: false, isExpired: false)
    var record: CacheRecord?
  }

  /// The maximum number of records, and the maximum number of bytes of one record in the index.
  static let (count, longest) = (256, 4 << 10)

  private let places = Mutex([Place](repeating: Place(), count: RecentRecords.count))

  /// The record of a row; decodes it unless it was decoded recently.
  ///
  /// - Parameter bytes: the bytes of the record in the index now.
  func record(
    _ bytes: UnsafeRawBufferPointer, _ circumstances: Circumstances
  ) throws(CacheError) -> CacheRecord {
    guard (1...Self.longest).contains(bytes.count) else { return try Self.decode(bytes, circumstances) }
    let index = Int(truncatingIfNeeded: circumstances.sequence) & (Self.count - 1)
    let (known, isRepeated) = places.withLock { places -> (CacheRecord?, Bool) in
      guard places[index].latest == circumstances.sequence else {
        places[index].latest = circumstances.sequence
        return (nil, false)
      }
      guard let record = places[index].record, places[index].circumstances == circumstances,
        Self.areEqual(places[index].bytes, bytes)
      else { return (nil, true) }
      return (record, true)
    }
    if let known { return known }
    let record = try Self.decode(bytes, circumstances)
    guard isRepeated else { return record }
    let copy = [UInt8](bytes)
    places.withLock { places in
      places[index] = Place(
        latest: circumstances.sequence, bytes: copy, circumstances: circumstances, record: record)
    }
    return record
  }

  /// Decodes the record of a row.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, _ circumstances: Circumstances
  ) throws(CacheError) -> CacheRecord {
    try RecordCodec.decode(
      bytes, sequence: circumstances.sequence, isInvalidated: circumstances.isInvalidated,
      isExpired: circumstances.isExpired)
  }

  /// Removes all records.
  func removeAll() {
    places.withLock { $0 = [Place](repeating: Place(), count: Self.count) }
  }

  private static func areEqual(_ kept: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard kept.count == bytes.count, let other = bytes.baseAddress else { return false }
    return kept.withUnsafeBytes { $0.baseAddress.map { memcmp($0, other, bytes.count) == 0 } ?? false }
  }
}
