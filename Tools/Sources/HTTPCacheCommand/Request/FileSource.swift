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
  private let isCancelled = Mutex(false)
  private let queue = DispatchQueue(label: "httpcache.upload")

  /// Opens a file.
  ///
  /// - Parameter path: `-` is standard input.
  /// - Throws: `ValidationError` if the file cannot be opened.
  init(_ path: String) throws {
    guard let file = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path) else {
      throw ValidationError("cannot read \(path): \(SystemMessage.text(errno))")
    }
    self.file = file
    var status = stat()
    let type = fstat(file.fileDescriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    // Foundation reads a directory as an empty file, and an empty PUT would replace what the origin has.
    guard type != S_IFDIR else { throw ValidationError("cannot read \(path): is a directory") }
    let isRegular = type == S_IFREG
    length = isRegular ? Int64(status.st_size) : nil
  }

  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? {
    if isCancelled.withLock({ $0 }) { throw CancellationError() }
    let result = await withCheckedContinuation { continuation in
      queue.async { [file] in
        continuation.resume(returning: Result { try file.read(upToCount: Self.pieceLength) })
      }
    }
    guard let data = try result.get(), !data.isEmpty else { return nil }
    return BodyBytes(data)
  }

  func cancel() { isCancelled.withLock { $0 = true } }
}
