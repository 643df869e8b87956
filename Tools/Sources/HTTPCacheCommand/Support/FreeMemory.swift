#if canImport(Glibc)
  import Glibc
#endif

/// Freed memory that the allocator keeps.
enum FreeMemory {
  #if canImport(Glibc)
    // Swift's module of glibc lacks <malloc.h>.
    private static let trim = dlsym(nil, "malloc_trim").map {
      unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }
  #endif

  /// Returns freed memory to the system. Otherwise glibc keeps the memory that many connections once needed.
  static func giveBack() {
    #if canImport(Glibc)
      _ = trim?(0)
    #endif
  }
}
