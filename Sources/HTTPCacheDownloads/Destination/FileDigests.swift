import Dispatch
import HTTPCacheFiles
import HTTPCacheStore
import HTTPCaching

/// Compares a file that is there with the digests that it must have.
enum FileDigests {
  /// The first digest that a file does not have, with its own; nil if the file has all, or the package was built
  /// without the trait `Crypto`.
  ///
  /// - Parameters:
  ///   - path: the path of the file, for errors.
  ///   - queue: reads the file on a thread that may block.
  /// - Throws: `DownloadFailure` if the file cannot be read; `CancellationError`.
  static func difference(
    from digests: [IntegrityDigest], in file: OpenFile<SystemError>, at path: String, on queue: DispatchQueue
  ) async throws -> DigestVerifier.Difference? {
    guard var verifier = DigestVerifier(digests) else { return nil }
    var position: Int64 = 0
    while true {
      let offset = position
      let (bytes, code) = await withCheckedContinuation {
        (continuation: CheckedContinuation<([UInt8], Int32), Never>) in
        queue.async { continuation.resume(returning: piece(of: file, at: offset)) }
      }
      if code != 0 { throw DownloadFailure(systemError: code, "read \(path)") }
      if bytes.isEmpty { return verifier.difference() }
      verifier.update(BodyBytes(bytes))
      position += Int64(bytes.count)
      try Task.checkCancellation()
    }
  }

  /// At most 1 MiB, none at the end; and 0 or the number of the error.
  private static func piece(of file: OpenFile<SystemError>, at offset: Int64) -> ([UInt8], Int32) {
    var result = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
      result = Descriptor.read(
        into: UnsafeMutableRawBufferPointer(buffer), from: file.descriptor, at: offset)
      count = max(0, result)
    }
    return (bytes, Int32(min(0, result)) * -1)
  }
}
