import HTTPCacheLibC
import HTTPCacheStore

/// A local file that becomes the body of a response. Read in pieces, so that it is never in memory as a whole.
final class AdoptedFile: Sendable {
  /// Bytes when the file was opened.
  let length: Int64
  let descriptor: Int32
  private let path: String
  private static let piece = 256 << 10

  /// - Throws: `CacheError.io` if there is no readable regular file.
  init(_ path: String) throws(CacheError) {
    self.path = path
    // Without O_NONBLOCK, opening a FIFO would wait for its writer.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw CacheError(.io, "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw CacheError(.io, "\(path) is not a regular file")
    }
    length = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  /// The bytes from a position on, at most 256 KiB.
  ///
  /// - Throws: `CacheError.io` if the file cannot be read, or is shorter than it was.
  func read(at offset: Int64) throws(CacheError) -> BodyBytes {
    let size = Int(min(Int64(Self.piece), length - offset))
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = pread(
          descriptor, buffer.baseAddress.map { $0 + count }, size - count, off_t(offset) + off_t(count))
        if got < 0, errno == EINTR { continue }
        if got < 0 { code = errno }
        if got <= 0 { return }
        count += got
      }
    }
    guard bytes.count == size else {
      throw CacheError(
        .io,
        code == 0 ? "\(path) became shorter" : "cannot read \(path): \(String(cString: strerror(code)))")
    }
    return BodyBytes(bytes)
  }
}
