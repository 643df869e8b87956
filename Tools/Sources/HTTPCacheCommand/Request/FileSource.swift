import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCaching
import Synchronization

/// The bytes of a file to send. Reads run outside of the threads of tasks, because a pipe may block.
final class FileSource: BodySource {
  private static let pieceLength = 64 << 10

  let length: Int64?
  private let file: FileHandle
  /// The offset of the next read; nil reads on where the last read of the descriptor ended.
  private let offset: Mutex<Int64?>
  private let isCancelled = Mutex(false)
  private let queue = DispatchQueue(label: "httpcache.upload")

  /// Opens a file.
  ///
  /// - Throws: `ValidationError` if the file cannot be opened.
  convenience init(_ path: String) throws {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw ValidationError("cannot read \(path): \(SystemMessage.text(errno))")
    }
    try self.init(file, name: path, from: nil)
  }

  /// Reads standard input.
  ///
  /// - Parameter start: the first byte, for a regular file that may be read again; nil reads on.
  /// - Throws: `ValidationError` for a directory.
  convenience init(standardInputFrom start: Int64?) throws {
    try self.init(.standardInput, name: "standard input", from: start)
  }

  private init(_ file: FileHandle, name: String, from start: Int64?) throws {
    self.file = file
    offset = Mutex(start)
    var status = stat()
    let type = fstat(file.fileDescriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    // Foundation reads a directory as an empty file, and an empty PUT would replace what the origin has.
    guard type != S_IFDIR else { throw ValidationError("cannot read \(name): is a directory") }
    length = type == S_IFREG ? max(0, Int64(status.st_size) - (start ?? 0)) : nil
  }

  /// The offset of standard input, if it is a regular file.
  static var standardInputOffset: Int64? {
    var status = stat()
    guard fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let offset = lseek(STDIN_FILENO, 0, SEEK_CUR)
    return offset < 0 ? nil : Int64(offset)
  }

  /// Whether a path names a regular file, which can be read more than once.
  static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? {
    if isCancelled.withLock({ $0 }) { throw CancellationError() }
    let result = await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: Result { try read() }) }
    }
    guard let data = try result.get(), !data.isEmpty else { return nil }
    return BodyBytes(data)
  }

  func cancel() { isCancelled.withLock { $0 = true } }

  private func read() throws -> Data? {
    guard let start = offset.withLock({ $0 }) else { return try file.read(upToCount: Self.pieceLength) }
    var data = Data(count: Self.pieceLength)
    var count = 0
    repeat {
      count = data.withUnsafeMutableBytes {
        pread(file.fileDescriptor, $0.baseAddress, $0.count, off_t(start))
      }
    } while count < 0 && errno == EINTR
    guard count >= 0 else {
      throw ValidationError("cannot read standard input: \(SystemMessage.text(errno))")
    }
    offset.withLock { $0 = start + Int64(count) }
    return Data(data.prefix(count))
  }
}
