import HTTPCacheLibC

/// Freed memory that the allocator keeps, and when to return it to the system.
///
/// glibc keeps the memory that many connections once needed. Returning it visits all free memory and holds the
/// allocator's locks meanwhile: with a fragmented memory tier of 200 MiB, 14 ms and more, in which other threads wait.
/// So memory is returned after many connections have ended, and never at regular times.
struct FreeMemory {
  /// Number of connections that have to end. A connection whose client does not read needs up to 256 KiB.
  static let endedConnections = 64

  private var highest = 0
  private var wasDue = false

  /// Whether so many connections have ended that memory should be returned now. The next call returns true once more,
  /// because some of a connection's memory is freed after its end.
  ///
  /// - Parameters:
  ///   - highest: the highest number of connections since the last call.
  ///   - current: the number of connections now.
  mutating func isDue(highest: Int, current: Int) -> Bool {
    self.highest = max(self.highest, highest)
    let isDue = self.highest - current >= Self.endedConnections
    defer { wasDue = isDue }
    if isDue { self.highest = current }
    return isDue || wasDue
  }

  #if canImport(Glibc)
    // Swift's module of glibc lacks <malloc.h>.
    private static let trim = dlsym(nil, "malloc_trim").map {
      unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }
  #endif

  /// Returns freed memory to the system.
  static func giveBack() {
    #if canImport(Glibc)
      _ = trim?(0)
    #endif
  }
}
