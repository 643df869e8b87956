import Foundation
import Synchronization

/// The folder `NAME.httpcache-part` beside a file that is being fetched: the received bytes, and a record of their
/// response.
///
/// The writing process holds a lock that ends with the process. So a folder that a killed process left differs from
/// one that another process is writing. Only its owner can open the folder, so that no other user can put links or
/// bytes into it. A folder of another user is not used.
final class PartFile: Sendable {
  /// Maximum number of folders for one file: processes that write to one file at the same time take one each.
  private static let folderLimit = 8
  private static let (bodyName, recordName) = ("body", "about.json")
  private static let longestRecord = 16 << 10

  /// The path of the folder.
  let path: String
  /// The descriptor of the bytes, open for reading and writing.
  let descriptor: Int32
  private let folder: Int32
  private let lock: Int32
  private let kept: Mutex<PartRecord?>

  /// The record of the bytes' response; nil if the bytes cannot be continued.
  var record: PartRecord? { kept.withLock { $0 } }

  /// Opens a part file that a killed process left, or makes an empty one.
  ///
  /// - Parameter base: the path to which the folder's suffix is added.
  /// - Throws: `OutputFailure`.
  init(beside base: String) throws(OutputFailure) {
    var taken: Opened?
    for number in 1...Self.folderLimit {
      let path = Self.path(beside: base, number)
      // Remove further folders of killed processes.
      guard let opened = try Self.open(path, of: base, makes: taken == nil) else { continue }
      if taken == nil { taken = opened } else { opened.remove() }
    }
    guard let taken else {
      throw OutputFailure(
        message: "cannot write to \(base): \(Self.path(beside: base, 1)) and those after it are in use or "
          + "not folders of this user")
    }
    (path, folder, descriptor) = (taken.path, taken.folder, taken.body)
    // A second descriptor holds the lock until the folder is gone.
    lock = dup(taken.body)
    kept = Mutex(taken.isTrusted ? Self.readRecord(taken.folder) : nil)
  }

  deinit { for descriptor in [descriptor, lock, folder] where descriptor >= 0 { close(descriptor) } }

  /// The number of bytes.
  var size: Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Drops all bytes.
  ///
  /// - Parameter record: the record of the next response; nil if that response cannot be continued.
  /// - Throws: `OutputFailure`.
  func begin(_ record: PartRecord?) throws(OutputFailure) {
    kept.withLock { $0 = nil }
    unlinkat(folder, Self.recordName, 0)
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw OutputFailure("cannot write to \(path)")
    }
    // If the record cannot be written, the body is fetched all the same, but cannot be continued.
    guard let record, let json = try? record.json, write(json) else { return }
    kept.withLock { $0 = record }
  }

  /// Continues after `offset` bytes.
  ///
  /// - Throws: `OutputFailure`.
  func resume(at offset: Int64) throws(OutputFailure) {
    guard ftruncate(descriptor, off_t(offset)) == 0, lseek(descriptor, off_t(offset), SEEK_SET) == offset
    else {
      throw OutputFailure("cannot write to \(path)")
    }
  }

  /// Renames the body to a path in the same file system; false with `errno` if that fails.
  func move(to path: String) -> Bool { renameat(folder, Self.bodyName, AT_FDCWD, path) == 0 }

  /// Removes the folder.
  func remove() { Self.remove(path, folder) }

  private static func remove(_ path: String, _ folder: Int32) {
    for name in [recordName, bodyName] { unlinkat(folder, name, 0) }
    rmdir(path)
  }

  /// The folder beside a path. The name of the file is part of its name, so that users see what it is for.
  static func path(beside base: String, _ number: Int = 1) -> String {
    let suffix = ".httpcache-part" + (number == 1 ? "" : "-\(number)")
    let folder = ReplacedFile.folder(of: base)
    let name = String(base.dropFirst(folder.count))
    let isLong = name.utf8.count + suffix.utf8.count > Int(NAME_MAX)
    return folder + (isLong ? ".\(ReplacedFile.fingerprint(of: name))" : name) + suffix
  }

  private func write(_ json: Data) -> Bool {
    let file = openat(
      folder, Self.recordName, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    return json.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) } == json.count
  }

  private static func readRecord(_ folder: Int32) -> PartRecord? {
    let file = openat(folder, recordName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: longestRecord)
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return count > 0 ? PartRecord(json: Data(bytes.prefix(count))) : nil
  }
}

extension PartFile {
  private struct Opened {
    let path: String
    let folder: Int32
    let body: Int32
    /// Whether no other user could have written to the folder.
    let isTrusted: Bool

    func remove() {
      PartFile.remove(path, folder)
      close(body)
      close(folder)
    }
  }

  /// Opens a folder and locks its body.
  ///
  /// - Returns: nil if another process has locked the folder, if it belongs to another user, or if it does not exist
  ///   and must not be made.
  /// - Throws: `OutputFailure` if the folder can neither be made nor found.
  private static func open(_ path: String, of base: String, makes: Bool) throws(OutputFailure) -> Opened? {
    // Another process may remove the folder between two steps.
    for _ in 0..<100 {
      if makes, mkdir(path, 0o700) != 0, errno != EEXIST { throw OutputFailure("cannot write to \(base)") }
      let folder = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard folder >= 0 else {
        if errno == ENOENT, makes { continue }
        return nil
      }
      var status = stat()
      guard fstat(folder, &status) == 0, status.st_uid == geteuid() else {
        close(folder)
        return nil
      }
      let isTrusted = status.st_mode & 0o022 == 0
      // The mode of a new file: the folder keeps other users out until the body is moved out of it.
      let body = openat(folder, bodyName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
      guard body >= 0, flock(body, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
        if body >= 0 { close(body) }
        close(folder)
        return nil
      }
      if isBody(body, of: folder) {
        return Opened(path: path, folder: folder, body: body, isTrusted: isTrusted)
      }
      close(body)
      close(folder)
    }
    return nil
  }

  /// Whether a descriptor is still the body of its folder: another process may have finished and moved the body
  /// before this process got the lock.
  private static func isBody(_ descriptor: Int32, of folder: Int32) -> Bool {
    var (opened, found) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && opened.st_mode & S_IFMT == S_IFREG && opened.st_nlink == 1
      && fstatat(folder, bodyName, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_ino == opened.st_ino
      && found.st_dev == opened.st_dev
  }
}
