package import HTTPCacheFiles
import HTTPCacheLibC

/// Files that a program or its user chose, unlike the files of a cache directory.
extension OpenFile where Failure == CacheError {
  /// Opens a path; symbolic links are followed, and a pipe is not waited for.
  ///
  /// - Throws: `CacheError.io`.
  package convenience init(path: String, flags: Int32 = O_RDONLY | O_NONBLOCK) throws(CacheError) {
    let descriptor = open(path, flags | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.failure("open \(path)") }
    self.init(descriptor: descriptor)
  }

  /// Opens a file below `directory`, and follows no symbolic link on the way.
  ///
  /// - Parameter path: names separated by `/`; none of them is `..`.
  /// - Throws: `CacheError.io`.
  package static func file(_ path: String, below directory: OpenFile) throws(CacheError) -> OpenFile {
    let names = path.split(separator: "/").map(String.init)
    guard let last = names.last, !names.contains(where: { $0 == "." || $0 == ".." }) else {
      throw CacheError(.io, "not a name of a file: \(path)")
    }
    var parent = directory
    for name in names.dropLast() { parent = try OpenFile(name, in: parent, flags: folder) }
    return try OpenFile(last, in: parent, flags: O_RDONLY | O_NONBLOCK)
  }

  /// The length in bytes of a regular file.
  ///
  /// - Throws: `CacheError.io`, also for another kind of file.
  package func length() throws(CacheError) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw CacheError(.io, "not a regular file") }
    return Int64(status.st_size)
  }

  /// Reads `count` bytes at `offset`.
  ///
  /// - Throws: `CacheError.io`, `CacheError.damaged` if the file ends before.
  package func read(_ count: Int, at offset: Int64) throws(CacheError) -> BodyBytes {
    try BodyBytes(unsafeUninitializedCapacity: count) { (buffer) throws(CacheError) in
      let found = try read(into: buffer, at: offset)
      guard found == count else {
        throw CacheError(.damaged, "the file ends at byte \(offset + Int64(found))")
      }
      return count
    }
  }

  /// Writes all bytes at the place where the last write ended.
  ///
  /// - Throws: `CacheError.io`, `CacheError.noSpace`.
  package func write(_ bytes: BodyBytes) throws(CacheError) {
    let code = bytes.withUnsafeBytes { Descriptor.writeAll($0, to: descriptor) }
    if code != 0 { throw Self.failure("write", code) }
  }

  /// The error of the system call that failed last.
  package static func failure(_ what: String, _ code: Int32 = errno) -> CacheError {
    CacheError(
      FullFileSystem.isMeant(by: code) ? .noSpace : .io, "\(what): \(String(cString: strerror(code)))")
  }
}
