/// Bytes up to a limit.
struct LimitedBytes {
  private let limit: Int
  private var kept: [UInt8] = []
  private var isTooLong = false

  init(limit: Int) { self.limit = limit }

  /// The bytes; nil if there were more than the limit.
  var bytes: [UInt8]? { isTooLong ? nil : kept }

  mutating func append(_ byte: UInt8) {
    guard !isTooLong else { return }
    guard kept.count < limit else {
      isTooLong = true
      kept = []
      return
    }
    kept.append(byte)
  }

  mutating func removeLast(_ count: Int) { kept.removeLast(min(count, kept.count)) }

  mutating func removeAll() {
    kept.removeAll(keepingCapacity: kept.count < 4_096)
    isTooLong = false
  }
}
