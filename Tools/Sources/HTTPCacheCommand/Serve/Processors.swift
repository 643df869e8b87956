import Foundation
import NIOCore

#if canImport(Glibc)
  import Glibc
#endif

/// The processors of the machine.
enum Processors {
  /// The number of those that this process may use: within the limits of a container, and of `taskset`.
  static var count: Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let allowed = allowed(in: status)
    else { return System.coreCount }
    return min(System.coreCount, allowed)
  }

  /// The number of processors in a mask as `/proc/PID/status` has it; nil without one.
  static func allowed(in status: String) -> Int? {
    for line in status.split(separator: "\n") where line.hasPrefix("Cpus_allowed:") {
      let count = line.dropFirst("Cpus_allowed:".count).reduce(0) {
        $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount
      }
      return count > 0 ? count : nil
    }
    return nil
  }

  /// Lets `malloc` of glibc have one arena for each processor. It would have up to eight, each with freed memory of its
  /// own, and resident memory would grow for minutes. Call this before other threads start.
  static func limitArenas() {
    #if canImport(Glibc)
      _ = mallopt(M_ARENA_MAX, Int32(clamping: max(2, count)))
    #endif
  }
}
