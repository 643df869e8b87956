import Foundation

/// A regular file that a complete body replaces, or a file that does not exist yet.
struct ReplacedFile: Equatable {
  /// The properties that a file keeps when its content is replaced.
  struct Attributes: Equatable {
    let mode: mode_t
    let owner: uid_t
    let group: gid_t
    let links: UInt64
  }

  /// The path of the file; its last component is not a symbolic link.
  let path: String
  /// The properties of the existing file; nil if there is none.
  let existing: Attributes?

  /// - Parameter existing: the result of `lstat`; nil if there is no file.
  /// - Throws: `OutputFailure` if the process may not write to the file.
  init(path: String, existing: stat?) throws(OutputFailure) {
    self.path = path
    self.existing = existing.map {
      Attributes(
        mode: $0.st_mode & 0o777, owner: $0.st_uid, group: $0.st_gid, links: UInt64($0.st_nlink))
    }
    // Replacing a file needs no permission for the file itself. Without this check a protected file would be lost.
    guard existing == nil || access(path, W_OK) == 0 else { throw OutputFailure("cannot write to \(path)") }
  }

  /// The folder of a path, up to its last slash; empty for the working directory.
  ///
  /// Does not use Foundation, which on Linux crashes in `deletingLastPathComponent` for a name of one letter.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// The path for the part file: beside the file, or in the folder for temporary files if no files can be made in
  /// the file's own folder.
  var partBase: String {
    let folder = Self.folder(of: path)
    guard existing != nil, access(folder.isEmpty ? "." : folder, W_OK | X_OK) != 0 else { return path }
    let name = Self.fingerprint(
      of: path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path)
    return NSTemporaryDirectory() + "httpcache-" + name
  }

  /// A short name for a long name (FNV-1a). Two long names may get equal short names.
  static func fingerprint(of name: String) -> String {
    let hash = name.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }

  /// Makes an empty file, so that no other transfer takes the path between this call and `replace`.
  ///
  /// - Throws: `OutputFailure` if the path is taken.
  func claim() throws(OutputFailure) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      guard errno == EEXIST else { throw OutputFailure("cannot write to \(path)") }
      throw OutputFailure.taken(path)
    }
    close(file)
  }

  /// Gives the file the content of an open body.
  ///
  /// The body replaces the file in one step if mode, owner and hard links can be kept. Otherwise the bytes of the
  /// body are copied into the file.
  ///
  /// - Parameters:
  ///   - descriptor: the descriptor of the body, open for reading and writing.
  ///   - move: renames the body to a path; false with `errno` if that fails.
  /// - Throws: `OutputFailure`.
  func replace(with descriptor: Int32, move: (String) -> Bool) throws(OutputFailure) {
    guard let existing else {
      guard move(path) else { throw OutputFailure("cannot write to \(path)") }
      return
    }
    if existing.links == 1, adopt(existing, descriptor), move(path) { return }
    try copy(descriptor)
  }

  private func adopt(_ existing: Attributes, _ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    if status.st_uid != existing.owner || status.st_gid != existing.group {
      guard fchown(descriptor, existing.owner, existing.group) == 0 else { return false }
    }
    return fchmod(descriptor, existing.mode) == 0
  }

  private func copy(_ source: Int32) throws(OutputFailure) {
    let target = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard target >= 0 else { throw OutputFailure("cannot write to \(path)") }
    defer { close(target) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    var offset: off_t = 0
    while true {
      let count = buffer.withUnsafeMutableBytes { pread(source, $0.baseAddress, $0.count, offset) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw OutputFailure("cannot read the body to copy to \(path)") }
      if count == 0 { break }
      var done = 0
      while done < count {
        let written = buffer[done..<count].withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw OutputFailure("\(path) is only partly written") }
        done += written
      }
      offset += off_t(count)
    }
    guard ftruncate(target, offset) == 0 else { throw OutputFailure("cannot cut \(path) to its length") }
  }
}
