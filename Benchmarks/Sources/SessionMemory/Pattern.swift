import Foundation

/// The bytes of `/ranges/N` of the evidence scripts' origin. Each byte follows from its position.
enum Pattern {
  private static let period = 65_521
  private static let periods = (0..<2).flatMap { _ in
    (0..<period).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
  }

  static func matches(_ data: Data, at offset: Int64) -> Bool {
    data.withUnsafeBytes { bytes in
      periods.withUnsafeBytes { periods in
        var checked = 0
        while checked < bytes.count {
          let start = Int((offset + Int64(checked)) % Int64(period))
          let length = min(bytes.count - checked, period)
          guard let left = bytes.baseAddress, let right = periods.baseAddress,
            memcmp(left + checked, right + start, length) == 0
          else { return false }
          checked += length
        }
        return true
      }
    }
  }
}
