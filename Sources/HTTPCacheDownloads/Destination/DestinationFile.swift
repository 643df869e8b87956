import Dispatch
import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCaching

/// The file that a download makes. Its bytes are first in a `PartFile`.
struct DestinationFile: Sendable {
  let path: String
  let folder: String
  let replacesExisting: Bool

  init(_ path: String, replacesExisting: Bool) {
    self.path = path
    let end = path.lastIndex(of: "/") ?? path.startIndex
    folder = end == path.startIndex ? "/" : String(path[..<end])
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
      guard code == ENOENT else { throw DownloadFailure(systemError: code, "look at \(path)") }
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

  /// Whether the file has all of these digests.
  ///
  /// - Throws: `DownloadFailure` if the file cannot be read; `CancellationError`.
  func has(_ digests: [IntegrityDigest]) async throws -> Bool {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw DownloadFailure(systemError: errno, "read \(path)") }
    let difference = try await FileDigests.difference(
      from: digests, in: OpenFile<SystemError>(descriptor: descriptor), at: path,
      on: DispatchQueue(label: "swift-http-cache.destination"))
    return difference == nil
  }
}

/// Identifies a file at a destination. The values differ for any other file, and after a change of the file.
struct PlacedFile: Sendable, Hashable {
  let inode: UInt64
  let size: Int64
  let seconds: Int64
  let nanoseconds: Int64
}

extension PlacedFile {
  init(_ status: stat) {
    let time = status.modificationTime
    self.init(
      inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: Int64(time.tv_sec),
      nanoseconds: Int64(time.tv_nsec))
  }
}

extension DownloadFailure {
  init(systemError code: Int32, _ operation: String) {
    let kind: Kind =
      switch code {
      case ENOSPC, EDQUOT, EFBIG: .fullDisk
      case EACCES, EPERM, EROFS: .readOnly
      case ENOENT, ENOTDIR: .noFolder
      case EISDIR: .destinationIsFolder
      default: .io
      }
    self.init(kind, "cannot \(operation): \(String(cString: strerror(code)))")
    systemError = code
  }
}
