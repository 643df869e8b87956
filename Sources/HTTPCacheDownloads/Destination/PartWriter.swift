import Dispatch
import HTTPCaching

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes a body that the cache does not store into a part file, on a thread that may block.
final class PartWriter: Sendable {
  private let descriptor: Int32
  private let path: String
  private let queue = DispatchQueue(label: "swift-http-cache.downloads")

  /// - Throws: `DownloadFailure` if the file cannot be made.
  init(_ file: DestinationFile) throws(DownloadFailure) {
    path = file.part
    file.removePart()
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else { throw DestinationFile.failure(errno, "make \(path)") }
  }

  deinit { close(descriptor) }

  /// Appends bytes.
  ///
  /// - Throws: `DownloadFailure`.
  func append(_ bytes: BodyBytes) async throws(DownloadFailure) {
    let code = await withCheckedContinuation { continuation in
      queue.async { [descriptor] in
        continuation.resume(returning: bytes.withUnsafeBytes { writeAll($0, to: descriptor) })
      }
    }
    if code != 0 { throw DestinationFile.failure(code, "write \(path)") }
  }
}
