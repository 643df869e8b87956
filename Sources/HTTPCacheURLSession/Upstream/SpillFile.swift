import HTTPCaching

/// A temporary file without a name, for bytes that no reader has taken yet. It vanishes with its last user,
/// and with the process.
final class SpillFile: Sendable {
  private let descriptor: Int32

  /// - Throws: `POSIXError` if the file cannot be made.
  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent(".swift-http-cache-\(UUID().uuidString)")
    descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.lastError }
    unlink(url.path)
  }

  deinit { close(descriptor) }

  /// Writes all bytes at an offset.
  ///
  /// - Throws: `POSIXError`, such as `ENOSPC`.
  func write(_ data: Data, at offset: Int64) throws {
    try data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Self.lastError }
        done += count
      }
    }
  }

  /// Fills a buffer with the bytes at an offset.
  ///
  /// - Throws: `POSIXError`; `EIO` if the file is shorter.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.lastError }
      guard count > 0 else { throw POSIXError(.EIO) }
      done += count
    }
  }

  /// Gives the space of the file back.
  func empty() { _ = ftruncate(descriptor, 0) }

  private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
