import Foundation
import NIOCore

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
}
