import ArgumentParser
import HTTPCacheLibC
import NIOCore

/// The limit of file descriptors of the process.
enum DescriptorLimit {
  #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let resource = RLIMIT_NOFILE
  #endif

  /// Raises the limit, and reports one with which SwiftNIO cannot make its event loops and would end the process.
  ///
  /// - Throws: `ExitCode` after a message.
  static func check() throws {
    let (limit, least) = (raise(), 20 + 4 * System.coreCount)
    guard limit < least else { return }
    Console.report(
      "httpcache: at most \(limit) files may be open, and at least \(least) are needed (ulimit -n)")
    throw ExitStatus.failure.code
  }

  /// Raises the limit as far as the system allows without privileges, and returns it.
  static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return 1024 }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    #if canImport(Darwin)
      // On Apple's systems the hard limit may be infinite, but the soft limit must not be.
      raised.rlim_cur = min(raised.rlim_cur, rlim_t(OPEN_MAX))
    #endif
    if setrlimit(resource, &raised) == 0 { limit = raised }
    return Int(min(limit.rlim_cur, rlim_t(Int32.max)))
  }
}
