#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a file is at one moment, as far as its system tells: whoever writes into it, cuts it or puts
/// another in its place changes this.
struct FileState: Hashable, Sendable {
  let identity: FileIdentity
  let size: Int64
  private let links: UInt64
  private let modified: Moment
  private let changed: Moment

  struct Moment: Hashable, Sendable {
    var seconds: Int64
    var nanoseconds: Int64

    init(_ time: timespec) {
      seconds = Int64(time.tv_sec)
      nanoseconds = Int64(time.tv_nsec)
    }
  }

  init(_ status: stat) {
    identity = FileIdentity(status)
    size = Int64(status.st_size)
    links = UInt64(status.st_nlink)
    #if canImport(Darwin)
      modified = Moment(status.st_mtimespec)
      changed = Moment(status.st_ctimespec)
    #else
      modified = Moment(status.st_mtim)
      changed = Moment(status.st_ctim)
    #endif
  }

  /// Whether an open file holds the bytes that it held in an earlier state. Removing its name, or giving it
  /// another one, changes a time as well, and no byte: then size and time of modification decide.
  func hasBytes(of earlier: FileState) -> Bool {
    if links == earlier.links { return self == earlier }
    return identity == earlier.identity && size == earlier.size && modified == earlier.modified
  }

  /// Whether a change from now on would show. File systems have clocks that tick, some of them only
  /// every two seconds, and two changes within one tick leave the same times.
  ///
  /// - Parameter now: of the system's clock, by which files are dated.
  func isSettled(at now: Moment) -> Bool {
    let isCoarse = modified.nanoseconds == 0 && changed.nanoseconds == 0
    let seconds = now.seconds &- changed.seconds
    guard (0...3).contains(seconds) else { return seconds > 3 }
    let age = seconds * 1_000_000_000 + now.nanoseconds - changed.nanoseconds
    return age > (isCoarse ? 3_000_000_000 : 100_000_000)
  }
}
