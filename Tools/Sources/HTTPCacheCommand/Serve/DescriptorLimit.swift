#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How many file descriptors the process may have.
enum DescriptorLimit {
  #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let resource = RLIMIT_NOFILE
  #endif

  /// Raises the limit as far as the system allows without privileges, and returns it.
  static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return 1024 }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    #if canImport(Darwin)
      // There the hard limit may be infinite, and the soft one must not be.
      raised.rlim_cur = min(raised.rlim_cur, rlim_t(OPEN_MAX))
    #endif
    if setrlimit(resource, &raised) == 0 { limit = raised }
    return Int(min(limit.rlim_cur, rlim_t(Int32.max)))
  }
}
