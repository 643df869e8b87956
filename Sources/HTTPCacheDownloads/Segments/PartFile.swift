import CSystemShims
import Dispatch
import HTTPCaching

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The part file of a download whose bytes do not go through the cache. Reads and writes on a thread that may
/// block.
final class PartFile: Sendable {
  /// Identifies the file.
  let inode: UInt64
  /// The permissions that a new file of this user gets here.
  let mode: UInt32
  private let descriptor: Int32
  private let path: String
  private let queue = DispatchQueue(label: "swift-http-cache.downloads")
  /// Apart, so that other ranges are written during a sync.
  private let syncQueue = DispatchQueue(label: "swift-http-cache.downloads.sync")

  /// Makes a new part file.
  ///
  /// - Throws: `DownloadFailure` if the file cannot be made.
  init(new file: DestinationFile) throws(DownloadFailure) {
    file.removePart()
    path = file.part
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else { throw DestinationFile.failure(errno, "make \(path)") }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw DestinationFile.failure(code, "look at \(path)")
    }
    inode = UInt64(status.st_ino)
    mode = UInt32(status.st_mode) & 0o777
  }

  /// Opens the part file that an earlier attempt left; nil if it is not there any more, or is another file.
  init?(_ file: DestinationFile, continuing record: PartRecord) {
    path = file.part
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    var status = stat()
    guard descriptor >= 0 else { return nil }
    guard fstat(descriptor, &status) == 0, UInt64(status.st_ino) == record.inode,
      status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) >= record.kept.last?.upperBound ?? 0
    else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    inode = record.inode
    mode = UInt32(status.st_mode) & 0o777
  }

  deinit { close(descriptor) }

  /// Writes bytes at their position.
  ///
  /// - Throws: `DownloadFailure`.
  func write(_ bytes: BodyBytes, at offset: Int64) async throws(DownloadFailure) {
    let code = await on(queue) { descriptor in
      bytes.withUnsafeBytes { -shim_write(descriptor, $0.baseAddress, $0.count, offset) }
    }
    if code != 0 { throw DestinationFile.failure(code, "write \(path)") }
  }

  /// Waits until all bytes that were written are on the disk.
  ///
  /// - Throws: `DownloadFailure`.
  func sync() async throws(DownloadFailure) {
    let code = await on(syncQueue) { fsync($0) == 0 ? 0 : errno }
    if code != 0 { throw DestinationFile.failure(code, "write \(path) to the disk") }
  }

  /// Reads at most 1 MiB; fewer bytes at the end.
  ///
  /// - Throws: `DownloadFailure`.
  func read(at offset: Int64) async throws(DownloadFailure) -> [UInt8] {
    let size = 1 << 20
    let (bytes, code) = await on(queue) { descriptor -> ([UInt8], Int32) in
      var code: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        var result: Int
        repeat {
          result = pread(descriptor, buffer.baseAddress, size, off_t(offset))
        } while result < 0
          && errno == EINTR
        if result < 0 { code = errno }
        count = max(0, result)
      }
      return (bytes, code)
    }
    if code != 0 { throw DestinationFile.failure(code, "read \(path)") }
    return bytes
  }

  private func on<Result: Sendable>(
    _ queue: DispatchQueue, _ body: @escaping @Sendable (Int32) -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: body(descriptor)) }
    }
  }
}
