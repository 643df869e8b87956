#if canImport(Glibc)
  import Glibc
#endif

/// Memory that was freed and that the allocator keeps.
enum FreeMemory {
  /// Gives it back to the system: glibc keeps what many connections once needed for as long as the process runs.
  static func giveBack() {
    #if canImport(Glibc)
      malloc_trim(0)
    #endif
  }
}
