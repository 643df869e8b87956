#if canImport(Glibc)
  import Glibc
#endif

/// Memory that was freed and that the allocator keeps.
enum FreeMemory {
  #if canImport(Glibc)
    // Swift's module of glibc lacks <malloc.h>.
    private static let trim = dlsym(nil, "malloc_trim").map {
      unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }
  #endif

  /// Gives it back to the system: glibc keeps what many connections once needed for as long as the process runs.
  static func giveBack() {
    #if canImport(Glibc)
      _ = trim?(0)
    #endif
  }
}
