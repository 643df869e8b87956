import Foundation

/// The name under which a file is written beside its own until it is complete. The writer holds its lock,
/// which goes with the process, so that what a killed one left is told from what is being written.
struct PartFile {
  private let folder: String
  private let prefix: String

  /// - Parameter path: of the file that it becomes.
  init(of path: String) {
    folder = Self.folder(of: path)
    prefix = ".httpcache-\(Self.fingerprint(of: path.dropFirst(folder.count)))-"
  }

  /// Makes one, and locks it.
  ///
  /// - Returns: its descriptor and its path; nil with the system's `errno` where that cannot be.
  func make() -> (descriptor: Int32, path: String)? {
    for _ in 0..<100 {
      let path = folder + prefix + String(UInt64.random(in: 0 ... .max), radix: 16) + Self.suffix
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { return nil }
      // Where there are no locks, nothing can be told apart, so that nothing is taken away either.
      let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
      // Somebody may have taken it for abandoned before it was locked.
      var status = stat()
      if isLocked, fstat(descriptor, &status) == 0, status.st_nlink > 0 { return (descriptor, path) }
      close(descriptor)
    }
    return nil
  }

  /// Takes away what killed processes left of the same file.
  func removeAbandoned() {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
    else { return }
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(Self.suffix) {
      let descriptor = open(folder + name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(folder + name) }
      close(descriptor)
    }
  }

  private static let suffix = ".part"

  /// What stands before the name of a file, up to its last slash.
  ///
  /// By hand: Foundation on Linux crashes in `deletingLastPathComponent` where a name has one letter.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// Of the file's name, which may be as long as names may be (FNV-1a).
  private static func fingerprint(of name: Substring) -> String {
    let hash = name.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
