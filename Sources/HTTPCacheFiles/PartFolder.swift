import CSystemShims
package import HTTPCacheLibC
import Synchronization

/// The folder `NAME.httpcache-part` beside a file that is being received: `body`, its bytes, each at its position,
/// and `record`, facts about them for the process that continues.
///
/// The process that has the folder open holds a lock, which ends with the process. So a folder that a killed process
/// left differs from one that another process is writing. Only its owner can open the folder, so that no other user
/// can put links or bytes into it. A folder of another user is not used.
package final class PartFolder: Sendable {
  /// Maximum number of folders for one file: processes that receive one file at the same time take one each.
  private static let folderLimit = 8
  private static let longestRecord = 256 << 10
  private static let (bodyName, recordName, newSuffix) = ("body", "record", ".new")

  package let path: String
  private let folder: OpenFile<SystemError>
  private let current: Mutex<OpenFile<SystemError>>

  private init(_ path: String, folder: OpenFile<SystemError>, body: OpenFile<SystemError>) {
    self.path = path
    self.folder = folder
    current = Mutex(body)
  }

  /// Opens the first folder that no process has open.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - makes: whether to make a folder if there is none. Further folders, of killed processes, are then removed.
  /// - Returns: nil and the number of the error; nil and 0 if there is none, or all are in use or of other users.
  package static func open(beside file: String, makes: Bool) -> (folder: PartFolder?, code: Int32) {
    var taken: PartFolder?
    for number in 1...folderLimit {
      let (opened, code) = open(path(beside: file, number), makes: makes && taken == nil)
      if code != 0 { return (nil, code) }
      guard let opened else { continue }
      if !makes { return (opened, 0) }
      if taken == nil { taken = opened } else { opened.remove() }
    }
    return (taken, 0)
  }

  private static func open(_ path: String, makes: Bool) -> (PartFolder?, Int32) {
    // Another process may remove the folder between two steps.
    for _ in 0..<100 {
      if makes, mkdir(path, 0o700) != 0, errno != EEXIST { return (nil, errno) }
      let descriptor = shim_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
      guard descriptor >= 0 else {
        if descriptor == -ENOENT, makes { continue }
        return (nil, 0)
      }
      let folder = OpenFile<SystemError>(descriptor: descriptor)
      var status = stat()
      // A file system without locks is used without.
      guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(),
        folder.lockCode() != -EWOULDBLOCK
      else { return (nil, 0) }
      guard FileIdentity(path: path) == FileIdentity(status) else { continue }
      if status.st_mode & 0o022 != 0 {
        // Other users may have written into it.
        fchmod(descriptor, 0o700)
        removeFiles(of: folder)
      }
      let (body, code) = openBody(of: folder)
      guard let body else {
        rmdir(path)
        return (nil, makes ? code : 0)
      }
      return (PartFolder(path, folder: folder, body: body), 0)
    }
    return (nil, 0)
  }

  private static func openBody(of folder: OpenFile<SystemError>) -> (OpenFile<SystemError>?, Int32) {
    var code: Int32 = 0
    for _ in 0..<2 {
      // The mode of a new file: the folder keeps other users out until the body is moved out of it.
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      let descriptor = shim_openat(folder.descriptor, bodyName, flags, 0o666)
      if descriptor >= 0 {
        let body = OpenFile<SystemError>(descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return (nil, errno) }
        if status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 { return (body, 0) }
      } else if !Descriptor.isOfOtherKind(-descriptor) {
        // The body cannot be opened now, for example because of too many open files. Its bytes must stay.
        return (nil, -descriptor)
      }
      code = descriptor >= 0 ? EEXIST : -descriptor
      // A link, or another name of a file: that file is left alone.
      folder.remove(bodyName)
    }
    return (nil, code)
  }

  /// The path of a folder. The name of the file is part of its name, so that users see what it is for.
  package static func path(beside file: String, _ number: Int = 1) -> String {
    let suffix = ".httpcache-part" + (number == 1 ? "" : "-\(number)")
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    let name = String(file.dropFirst(folder.count))
    let isLong = name.utf8.count + suffix.utf8.count > Int(NAME_MAX)
    return folder + (isLong ? ".\(fingerprint(of: name))" : name) + suffix
  }

  /// A short name for a long name (FNV-1a). Two long names may get equal short names.
  package static func fingerprint(of name: String) -> String {
    let hash = name.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }

  // MARK: Body and record

  package var body: OpenFile<SystemError> { current.withLock { $0 } }

  package var status: stat {
    var status = stat()
    fstat(body.descriptor, &status)
    return status
  }

  /// Where to make a file, such as a clone, that `takeNewBody` makes the body.
  package var newBodyPath: String { "\(path)/\(Self.bodyName)\(Self.newSuffix)" }

  package func removeNewBody() { folder.remove(Self.bodyName + Self.newSuffix) }

  /// - Returns: 0, or the number of the error.
  package func takeNewBody() -> Int32 {
    let name = Self.bodyName + Self.newSuffix
    let descriptor = shim_openat(folder.descriptor, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return -descriptor }
    let new = OpenFile<SystemError>(descriptor: descriptor)
    guard renameat(folder.descriptor, name, folder.descriptor, Self.bodyName) == 0 else { return errno }
    current.withLock { $0 = new }
    return 0
  }

  /// Removes record and bytes. The next bytes get a new file, so that a record that a power loss brings back does not
  /// have its identity.
  ///
  /// - Returns: 0, or the number of the error.
  package func clear() -> Int32 {
    folder.remove(Self.recordName)
    if status.st_size == 0 { return 0 }
    removeNewBody()
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = shim_openat(folder.descriptor, Self.bodyName + Self.newSuffix, flags, 0o666)
    guard descriptor >= 0 else { return -descriptor }
    HTTPCacheLibC.close(descriptor)
    return takeNewBody()
  }

  /// Reads the record.
  ///
  /// - Returns: the bytes, or nil if there is no record, and 0; nil and the number of the error if the record cannot be
  ///   read now.
  package func readRecord() -> (bytes: [UInt8]?, code: Int32) {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = shim_openat(folder.descriptor, Self.recordName, flags, 0)
    guard descriptor >= 0 else { return (nil, Self.recordCode(-descriptor)) }
    let file = OpenFile<SystemError>(descriptor: descriptor)
    var bytes = [UInt8](repeating: 0, count: Self.longestRecord)
    let count = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: file.descriptor, at: 0) }
    guard count >= 0 else { return (nil, Self.recordCode(Int32(-count))) }
    return (count > 0 ? Array(bytes.prefix(count)) : nil, 0)
  }

  // 0 for the error of a record that does not exist, or is of another kind.
  private static func recordCode(_ code: Int32) -> Int32 {
    code == ENOENT || Descriptor.isOfOtherKind(code) ? 0 : code
  }

  /// Replaces the record in one step.
  ///
  /// - Parameter isDurable: whether it must survive a power loss.
  /// - Returns: 0, or the number of the error.
  package func writeRecord(_ bytes: [UInt8], isDurable: Bool) -> Int32 {
    guard bytes.count < Self.longestRecord else { return EFBIG }
    let name = Self.recordName + Self.newSuffix
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = shim_openat(folder.descriptor, name, flags, 0o600)
    guard descriptor >= 0 else { return -descriptor }
    let file = OpenFile<SystemError>(descriptor: descriptor)
    let code = bytes.withUnsafeBytes { Descriptor.writeAll($0, to: file.descriptor) }
    guard code == 0 else { return code }
    // A power loss may otherwise leave an empty file under the new name.
    if isDurable, fsync(file.descriptor) != 0 { return errno }
    guard renameat(folder.descriptor, name, folder.descriptor, Self.recordName) == 0 else { return errno }
    return !isDurable || fsync(folder.descriptor) == 0 ? 0 : errno
  }

  // MARK: The end

  /// Moves the body to a path in one step.
  ///
  /// - Parameter mustBeNew: whether a file that is there stays.
  /// - Returns: 0, or the number of the error; `EEXIST` for a file that stays.
  package func moveBody(to target: String, mustBeNew: Bool) -> Int32 {
    if mustBeNew {
      // A link, unlike a rename, fails if the name exists.
      if linkat(folder.descriptor, Self.bodyName, AT_FDCWD, target, 0) == 0 { return 0 }
      guard [EPERM, ENOTSUP, EMLINK].contains(errno) else { return errno }
      // A file system without hard links: an empty file takes the name first.
      let claim = shim_open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard claim >= 0 else { return -claim }
      HTTPCacheLibC.close(claim)
    }
    return renameat(folder.descriptor, Self.bodyName, AT_FDCWD, target) == 0 ? 0 : errno
  }

  /// Copies the body into a file that is there.
  ///
  /// - Returns: 0, or the number of the error; and whether the file has changed.
  package func copyBody(into target: String) -> (code: Int32, hasChanged: Bool) {
    let descriptor = shim_open(target, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return (-descriptor, false) }
    let file = OpenFile<SystemError>(descriptor: descriptor)
    let source = body
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    var offset: Int64 = 0
    while true {
      let count = buffer.withUnsafeMutableBytes {
        Descriptor.read(into: $0, from: source.descriptor, at: offset)
      }
      if count < 0 { return (Int32(-count), offset > 0) }
      if count == 0 { break }
      let code = buffer.withUnsafeBytes {
        Descriptor.writeAll(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: file.descriptor)
      }
      if code != 0 { return (code, true) }
      offset += Int64(count)
    }
    return ftruncate(file.descriptor, off_t(offset)) == 0 ? (0, true) : (errno, true)
  }

  /// Removes the folder.
  package func remove() {
    Self.removeFiles(of: folder)
    rmdir(path)
  }

  private static func removeFiles(of folder: OpenFile<SystemError>) {
    for name in [recordName, bodyName] {
      folder.remove(name)
      folder.remove(name + newSuffix)
    }
  }

  /// Lets other processes open the folder.
  package func unlock() { folder.unlock() }
}
