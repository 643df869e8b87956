public import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// One version of a response of a `StoreWorkload`. Its entity tag determines its body, so that any process
/// that finds the response can check the body.
public struct SampleVersion: Sendable, Hashable, CustomStringConvertible {
  /// The number of its key in the workload.
  public let key: Int
  /// The number of its writer.
  public let writer: Int
  /// The number of this version among those of the writer.
  public let number: Int
  /// The length of its body in bytes.
  public let length: Int

  /// Makes a version.
  public init(key: Int, writer: Int, number: Int, length: Int) {
    self.key = key
    self.writer = writer
    self.number = number
    self.length = length
  }

  /// The version of a stored record; nil if it does not come from a workload.
  public init?(_ record: CacheRecord) {
    guard let tag = record.response.head.headerFields[.eTag] else { return nil }
    let parts = tag.dropFirst().dropLast().split(separator: ".").compactMap { Int($0) }
    guard parts.count == 4, parts[3] >= 0 else { return nil }
    self.init(key: parts[0], writer: parts[1], number: parts[2], length: parts[3])
    guard tag == self.tag else { return nil }
  }

  private var tag: String { "\"\(key).\(writer).\(number).\(length)\"" }

  /// Its numbers.
  public var description: String { tag }

  /// The key with a number. A few of them share a partition, and all an origin.
  public static func key(_ number: Int) -> CacheKey {
    StoreSample.key("/\(number)", partition: number % 4 == 3 ? "p" : "")
  }

  /// Its record, for a store.
  ///
  /// - Parameters:
  ///   - announcesLength: whether the length of the body is known from the start.
  ///   - isResumable: whether it may be continued after breaking off.
  ///   - time: when it was requested and arrived.
  public func record(
    announcesLength: Bool = true, isResumable: Bool = false, time: Timestamp = StoreSample.start
  ) -> CacheRecord {
    CacheRecord(
      key: Self.key(key), response: StoreSample.response(time: time, tag: tag),
      bodyLength: announcesLength ? Int64(length) : nil,
      groups: key % 3 == 0 ? ["g"] : [], isResumable: isResumable)
  }

  /// Its body.
  public var body: BodyBytes {
    var seed = UInt64(truncatingIfNeeded: key)
    for part in [writer, number, length] {
      seed = (seed ^ UInt64(truncatingIfNeeded: part)) &* 0x9E37_79B9_7F4A_7C15
      seed ^= seed >> 29
    }
    return StoreSample.body(length, seed: seed)
  }
}
