package import HTTPCacheLibC

/// The state of a file at one moment, as the file system reports it. Writing into the file, truncating it, or
/// replacing it changes the state.
package struct FileState: Hashable, Sendable {
  package let identity: FileIdentity
  package let size: Int64
  private let links: UInt64
  private let modified: Moment
  private let changed: Moment

  package struct Moment: Hashable, Sendable {
    package var seconds: Int64
    var nanoseconds: Int64

    package init(_ time: timespec) {
      seconds = Int64(time.tv_sec)
      nanoseconds = Int64(time.tv_nsec)
    }

    /// The time by the system's clock, which dates files.
    @Sendable package static func now() -> Moment {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Moment(time)
    }
  }

  package init(_ status: stat) {
    identity = FileIdentity(status)
    size = Int64(status.st_size)
    links = UInt64(status.st_nlink)
    modified = Moment(status.modificationTime)
    #if canImport(Darwin)
      changed = Moment(status.st_ctimespec)
    #else
      changed = Moment(status.st_ctim)
    #endif
  }

  /// The state of the file at a path now; nil if there is none.
  package init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Whether an open file holds the bytes that it held in an earlier state. Unlinking or renaming the file
  /// changes its status time but none of its bytes. In that case its size and modification time decide.
  package func hasBytes(of earlier: FileState) -> Bool {
    if links == earlier.links { return self == earlier }
    return identity == earlier.identity && size == earlier.size && modified == earlier.modified
  }

  /// Whether any later change would change the state. File systems have coarse clocks, some with ticks of two
  /// seconds, and two changes within one tick leave the same times.
  ///
  /// - Parameter now: the time by the system's clock, which dates files.
  package func isSettled(at now: Moment) -> Bool {
    let isCoarse = modified.nanoseconds == 0 && changed.nanoseconds == 0
    let seconds = now.seconds &- changed.seconds
    guard (0...3).contains(seconds) else { return seconds > 3 }
    let age = seconds * 1_000_000_000 + now.nanoseconds - changed.nanoseconds
    return age > (isCoarse ? 3_000_000_000 : 100_000_000)
  }
}

extension stat {
  /// The time of the last write, whose name differs by system.
  package var modificationTime: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }
}

/// Device and inode, which identify a file whatever its names.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64

  package init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Device and inode of the file at a path now; nil if there is none.
  package init?(path: String) {
    guard let state = FileState(path: path) else { return nil }
    self = state.identity
  }

  package init?(_ name: String, in directory: OpenFile<some SystemFailure>) {
    guard let status = directory.status(of: name) else { return nil }
    self.init(status)
  }
}
