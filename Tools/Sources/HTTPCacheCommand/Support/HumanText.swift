import Foundation
import HTTPCacheStore

/// Quantities as text.
enum HumanText {
  /// A length of time, rounded, such as `58 min` or `1 h 5 min`.
  ///
  /// - Parameter seconds: negative counts as 0.
  static func duration(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    if seconds < 120 { return "\(seconds) s" }
    let minutes = rounded(seconds, by: 60)
    if minutes < 120 { return "\(minutes) min" }
    if minutes < 48 * 60 { return pair((minutes / 60, "h"), (minutes % 60, "min")) }
    let hours = rounded(seconds, by: 3600)
    if hours < 14 * 24 { return pair((hours / 24, "d"), (hours % 24, "h")) }
    let days = rounded(seconds, by: 86_400)
    return days < 730 ? "\(days) d" : pair((days / 365, "y"), (days % 365, "d"))
  }

  /// How long a response is stale, such as `stale for 58 min`; in its first second only `stale`.
  static func staleness(_ seconds: Int64) -> String {
    seconds > 0 ? "stale for \(duration(seconds))" : "stale"
  }

  /// A measured time, such as `0.42 ms`.
  static func duration(_ duration: Duration) -> String {
    let milliseconds = milliseconds(duration)
    if milliseconds < 10 { return String(format: "%.2f ms", milliseconds) }
    if milliseconds < 1000 { return String(format: "%.0f ms", milliseconds) }
    return String(format: "%.1f s", milliseconds / 1000)
  }

  /// A measured time in milliseconds.
  static func milliseconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1000 + Double(attoseconds) / 1e15
  }

  /// A number of bytes, such as `16.2 KiB`.
  static func bytes(_ count: Int64) -> String {
    guard count >= 1024 else { return "\(count) B" }
    var value = Double(count)
    var unit = "B"
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] where value >= 1023.95 {
      value /= 1024
      unit = larger
    }
    return String(format: value < 100 ? "%.1f " : "%.0f ", value) + unit
  }

  /// A number in groups of three digits, such as `100,000`.
  static func grouped(_ number: Int64) -> String {
    var digits = "\(number)"
    var index = digits.endIndex
    while digits.distance(from: digits.startIndex, to: index) > 3 {
      index = digits.index(index, offsetBy: -3)
      digits.insert(",", at: index)
    }
    return digits
  }

  /// A number with its noun, such as `1 response` or `3 responses`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// A share, such as `66.7 %`; a dash if the whole is 0.
  static func share(_ part: Int64, of whole: Int64) -> String {
    whole > 0 ? String(format: "%.1f %%", Double(part) / Double(whole) * 100) : "–"
  }

  private static func rounded(_ seconds: Int64, by unit: Int64) -> Int64 {
    seconds / unit + (seconds % unit * 2 >= unit ? 1 : 0)
  }

  private static func pair(
    _ large: (count: Int64, unit: String), _ small: (count: Int64, unit: String)
  ) -> String {
    "\(large.count) \(large.unit)" + (small.count == 0 ? "" : " \(small.count) \(small.unit)")
  }
}

extension HumanText {
  /// The message that the capacity of the directory changed, and how much is evicted.
  ///
  /// - Parameter usage: bytes in use.
  static func capacityChange(from old: Int64, to new: Int64, usage: Int64) -> String {
    let change = "the capacity of the cache is now \(bytes(new)), it was \(bytes(old))"
    return usage > new ? change + "; \(bytes(usage - new)) of stored responses are evicted" : change
  }

  /// A failure of the store that concerns more than one entry, and what follows for responses.
  ///
  /// - Parameter hasMemory: whether the cache also stores in memory.
  static func storeFailure(
    _ error: CacheError, during operation: String, hasMemory: Bool = false
  ) -> String {
    // A cache that says on opening that it is damaged has begun anew.
    if operation == "open", error.code == .damaged { return error.message }
    let failure = "cache storage error (\(operation): \(error))"
    switch operation {
    // The directory failed, and the tier in memory goes on.
    case "open", "write", "append", "commit":
      return "\(failure); responses are \(hasMemory ? "stored in memory only" : "not stored")"
    case "store", "extend": return "\(failure); responses are not stored"
    default: return failure
    }
  }
}
