import Foundation
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open file or directory. The descriptor is closed when the last reference is released.
final class SystemFile: Sendable {
  let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Opens a path that the program or its user chose; symbolic links are followed, and a pipe is not waited for.
  ///
  /// - Throws: `CacheError.io`.
  convenience init(path: String, flags: Int32 = O_RDONLY | O_NONBLOCK) throws(CacheError) {
    let descriptor = open(path, flags | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.failure("open \(path)") }
    self.init(descriptor: descriptor)
  }

  /// Makes a file without a name in the folder for temporary files.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  static func temporary() throws(CacheError) -> SystemFile {
    let folder = FileManager.default.temporaryDirectory.path
    var path = Array("\(folder)/httpcache-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw failure("make a temporary file in \(folder)") }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return SystemFile(descriptor: descriptor)
  }

  /// Opens a file below `directory`, and follows no symbolic link on the way.
  ///
  /// - Parameter path: names separated by `/`; none of them is `..`.
  /// - Throws: `CacheError.io`.
  convenience init(_ path: String, below directory: SystemFile) throws(CacheError) {
    let names = path.split(separator: "/")
    var parent = directory
    for name in names.dropLast() { parent = try SystemFile(String(name), in: parent, O_RDONLY | O_DIRECTORY) }
    let file = try Self.descriptor(of: names.last.map(String.init) ?? "", in: parent, O_RDONLY | O_NONBLOCK)
    self.init(descriptor: file)
  }

  /// Opens `name` within `directory`, and does not follow a symbolic link.
  ///
  /// - Throws: `CacheError.io`.
  convenience init(_ name: String, in directory: SystemFile, _ flags: Int32) throws(CacheError) {
    self.init(descriptor: try Self.descriptor(of: name, in: directory, flags))
  }

  private static func descriptor(
    of name: String, in directory: SystemFile, _ flags: Int32
  ) throws(CacheError) -> Int32 {
    guard !name.isEmpty, name != "..", name != "." else {
      throw CacheError(.io, "not a name of a file: \(name)")
    }
    let descriptor = openat(directory.descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw failure("open \(name)") }
    return descriptor
  }

  /// The length in bytes of a regular file.
  ///
  /// - Throws: `CacheError.io`, also for another kind of file.
  func length() throws(CacheError) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw CacheError(.io, "not a regular file") }
    return Int64(status.st_size)
  }

  /// Reads `count` bytes at `offset`.
  ///
  /// - Throws: `CacheError.io`, `CacheError.damaged` if the file ends before.
  func read(_ count: Int, at offset: Int64) throws(CacheError) -> BodyBytes {
    try BodyBytes(unsafeUninitializedCapacity: count) { (buffer) throws(CacheError) in
      try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
      return count
    }
  }

  /// Fills a buffer from `offset`.
  ///
  /// - Throws: `CacheError.io`, `CacheError.damaged` if the file ends before.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(CacheError) {
    var done = 0
    while done < buffer.count {
      let got = pread(
        descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset + Int64(done)))
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw Self.failure("read") }
      guard got > 0 else { throw CacheError(.damaged, "the file ends at byte \(offset + Int64(done))") }
      done += got
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
    var done = 0
    while done < bytes.count {
      #if canImport(Darwin)
        let count = Darwin.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      #elseif canImport(Musl)
        let count = Musl.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      #else
        let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      #endif
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure("write") }
      done += count
    }
  }

  /// Writes all bytes at the place where the last write ended.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  func write(_ bytes: BodyBytes) throws(CacheError) {
    try bytes.withUnsafeBytes { (buffer) throws(CacheError) in try write(buffer) }
  }

  /// The error of the system call that failed last.
  static func failure(_ what: String) -> CacheError {
    let code = errno
    return CacheError(
      code == ENOSPC || code == EDQUOT ? .noSpace : .io, "\(what): \(String(cString: strerror(code)))")
  }
}
