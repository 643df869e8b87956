import Dispatch
import HTTPCacheFiles
import HTTPCacheLibC

/// Writes a new file on a separate thread: the threads of Swift concurrency must not wait for a disk.
package enum NewFile {
  /// Writes a file with mode 0600, piece by piece; on failure no file is left.
  ///
  /// - Parameters:
  ///   - length: the length of the file in bytes.
  ///   - read: returns the bytes in a range.
  /// - Throws: what `read` throws; `CacheError.io`, also if a file exists at `path`; `CacheError.noSpace`;
  ///   `CacheError.damaged` if there are fewer bytes.
  package static func make(
    at path: String, length: Int64, read: (Range<Int64>) async throws(CacheError) -> BodyBytes
  ) async throws(CacheError) {
    let queue = DispatchQueue(label: "HTTPCacheStore.NewFile")
    var position: Int64 = 0
    do throws(CacheError) {
      repeat {
        let bytes =
          position < length ? try await read(position..<min(length, position + (1 << 20))) : BodyBytes()
        guard !bytes.isEmpty || length == 0 else {
          throw CacheError(.damaged, "the body ended at byte \(position)")
        }
        let isMore = position > 0
        let error = await withCheckedContinuation { continuation in
          queue.async {
            continuation.resume(returning: append(bytes, to: path, isMore: isMore))
          }
        }
        if let error { throw error }
        position += Int64(bytes.count)
      } while position < length
    } catch {
      if position > 0 { unlink(path) }
      throw error
    }
  }

  private static func append(_ bytes: BodyBytes, to path: String, isMore: Bool) -> CacheError? {
    let flags = isMore ? O_APPEND | O_NOFOLLOW : O_CREAT | O_EXCL
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0o600)
    guard descriptor >= 0 else { return CacheFile.failure("cannot make a file for a copy") }
    var code = bytes.withUnsafeBytes { Descriptor.writeAll($0, to: descriptor) }
    if close(descriptor) != 0, code == 0 { code = errno }
    guard code != 0 else { return nil }
    unlink(path)
    return CacheFile.failure("cannot write a copy", code)
  }
}
