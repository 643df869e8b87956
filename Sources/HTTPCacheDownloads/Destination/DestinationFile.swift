#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file that a download makes. Its bytes are first in a part file in the same folder, which one step moves
/// to the destination.
struct DestinationFile: Sendable {
  let path: String
  let folder: String
  /// The part file; its name has the download's identifier, so that no other download has the same one.
  let part: String
  let replacesExisting: Bool

  init(_ path: String, id: DownloadID, replacesExisting: Bool) {
    self.path = path
    let end = path.lastIndex(of: "/") ?? path.startIndex
    folder = end == path.startIndex ? "/" : String(path[..<end])
    part = (folder == "/" ? "" : folder) + "/.httpcache-\(id).part"
    self.replacesExisting = replacesExisting
  }

  /// Whether a path is absolute and has a file name.
  static func isValid(_ path: String) -> Bool {
    let bytes = path.utf8
    guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else { return false }
    let name = bytes.suffix(
      from: bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex)
    return !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
  }

  /// The file at the destination now.
  enum Occupant: Hashable {
    case nothing
    /// The file that this queue put there, unchanged.
    case placed
    case otherFile
  }

  /// Looks at the destination before and after a transfer.
  ///
  /// - Parameter placed: the file that this queue put there.
  /// - Throws: `DownloadFailure` if no file may be made there.
  func occupant(_ placed: PlacedFile?) throws(DownloadFailure) -> Occupant {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let code = errno
      guard code == ENOENT else { throw Self.failure(code, "look at \(path)") }
      guard stat(folder, &status) == 0 else {
        throw DownloadFailure(.noFolder, "the folder \(folder) does not exist")
      }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw DownloadFailure(.noFolder, "\(folder) is not a folder")
      }
      return .nothing
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: throw DownloadFailure(.destinationIsFolder, "\(path) is a folder")
    case S_IFREG: break
    default: throw DownloadFailure(.destinationIsLink, "\(path) is a link or a special file")
    }
    if let placed, PlacedFile(status) == placed { return .placed }
    guard replacesExisting else {
      throw DownloadFailure(.destinationExists, "\(path) exists, and this download does not replace it")
    }
    guard status.st_mode & 0o222 != 0 else {
      throw DownloadFailure(.readOnly, "\(path) is write-protected")
    }
    return .otherFile
  }

  /// Removes the part file that an earlier attempt left.
  func removePart() { unlink(part) }

  /// The mode that a new file of this user gets here. Makes and removes the part file: a process can only read
  /// its mask by changing it for all threads.
  ///
  /// - Throws: `DownloadFailure` if no file can be made here.
  func modeOfNewFile() throws(DownloadFailure) -> UInt32 {
    unlink(part)
    let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else { throw Self.failure(errno, "make a file in \(folder)") }
    var status = stat()
    let mode = fstat(descriptor, &status) == 0 ? UInt32(status.st_mode) & 0o777 : 0o600
    close(descriptor)
    unlink(part)
    return mode
  }

  /// Makes the part file a link to an open file.
  ///
  /// - Returns: false if the system cannot link the file here.
  func linkPart(to descriptor: Int32) -> Bool {
    #if os(Linux)
      linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, part, AT_SYMLINK_FOLLOW) == 0
    #else
      false
    #endif
  }

  /// Gives the part file its mode and modification time.
  ///
  /// - Parameters:
  ///   - modified: seconds since 1970; nil leaves the time of writing.
  ///   - isDurable: whether its bytes must be on the disk before this returns.
  /// - Returns: what tells the file, here and at the destination.
  func finishPart(mode: UInt32, modified: Int64?, isDurable: Bool) throws(DownloadFailure) -> PlacedFile {
    let descriptor = open(part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Self.failure(errno, "open \(part)") }
    defer { close(descriptor) }
    guard fchmod(descriptor, mode_t(mode)) == 0 else { throw Self.failure(errno, "set the mode of \(part)") }
    if let modified {
      var times = [timespec(), timespec()]
      times[0].tv_sec = time_t(time(nil))
      times[1].tv_sec = time_t(clamping: modified)
      // A file system that cannot keep this time keeps the time of writing.
      _ = futimens(descriptor, times)
    }
    if isDurable, fsync(descriptor) != 0 { throw Self.failure(errno, "write \(part) to the disk") }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(errno, "look at \(part)") }
    return PlacedFile(status)
  }

  /// Moves the part file to the destination in one step. A file that appeared there meanwhile stays, unless it
  /// may be replaced.
  func move(replacing occupant: Occupant) throws(DownloadFailure) {
    if occupant == .nothing, !replacesExisting {
      // A link, unlike a rename, fails if the name exists.
      if link(part, path) == 0 {
        unlink(part)
        return
      }
      let code = errno
      if code == EEXIST {
        throw DownloadFailure(.destinationExists, "\(path) appeared during the download")
      }
      guard [EPERM, ENOTSUP, EMLINK].contains(code) else { throw Self.failure(code, "make \(path)") }
      // A file system without hard links: look again, as late as possible.
      _ = try self.occupant(nil)
    }
    guard rename(part, path) == 0 else { throw Self.failure(errno, "move the file to \(path)") }
  }

  static func failure(_ code: Int32, _ operation: String) -> DownloadFailure {
    let message = "cannot \(operation): \(String(cString: strerror(code)))"
    return switch code {
    case ENOSPC, EDQUOT, EFBIG: DownloadFailure(.fullDisk, message)
    case EACCES, EPERM, EROFS: DownloadFailure(.readOnly, message)
    case ENOENT, ENOTDIR: DownloadFailure(.noFolder, message)
    case EISDIR: DownloadFailure(.destinationIsFolder, message)
    default: DownloadFailure(.io, message)
    }
  }
}

extension PlacedFile {
  init(_ status: stat) {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    self.init(
      inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: Int64(time.tv_sec),
      nanoseconds: Int64(time.tv_nsec))
  }
}
