#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes bytes to a new file, on a separate thread: the threads of Swift concurrency must not wait for a disk.
package enum NewFile {
  private final class Job: Sendable {
    let bytes: BodyBytes
    let path: String
    let isMore: Bool
    let continuation: CheckedContinuation<CacheError?, Never>

    init(
      _ bytes: BodyBytes, _ path: String, isMore: Bool,
      _ continuation: CheckedContinuation<CacheError?, Never>
    ) {
      self.bytes = bytes
      self.path = path
      self.isMore = isMore
      self.continuation = continuation
    }

    func run() { finish(NewFile.writeNow(bytes, to: path, isMore: isMore)) }

    func finish(_ error: CacheError?) { continuation.resume(returning: error) }
  }

  /// Writes a file with mode 0600; on failure no file is left.
  ///
  /// - Throws: `CacheError.io`, also if something exists at `path`; `CacheError.noSpace`.
  static func make(_ bytes: BodyBytes, at path: String) async throws(CacheError) {
    try await add(bytes, at: path, isMore: false)
  }

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
    var position: Int64 = 0
    do throws(CacheError) {
      repeat {
        let bytes =
          position < length ? try await read(position..<min(length, position + (1 << 20))) : BodyBytes()
        guard !bytes.isEmpty || length == 0 else {
          throw CacheError(.damaged, "the body ended at byte \(position)")
        }
        try await add(bytes, at: path, isMore: position > 0)
        position += Int64(bytes.count)
      } while position < length
    } catch {
      if position > 0 { unlink(path) }
      throw error
    }
  }

  // Adds one piece; on failure no file is left.
  private static func add(
    _ bytes: BodyBytes, at path: String, isMore: Bool
  ) async throws(CacheError) {
    let error = await withCheckedContinuation { continuation in
      let job = Job(bytes, path, isMore: isMore, continuation)
      let status = startThread(Unmanaged.passRetained(job).toOpaque())
      if status != 0 { job.finish(failure(status, "no thread to write with")) }
    }
    if let error { throw error }
  }

  #if canImport(Darwin)
    private typealias Entry = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
    private static let entry: Entry = { context in
      Unmanaged<Job>.fromOpaque(context).takeRetainedValue().run()
      return nil
    }
  #else
    private typealias Entry = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    private static let entry: Entry = { context in
      if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().run() }
      return nil
    }
  #endif

  // Takes over the job that `context` retains, unless it returns an error number.
  private static func startThread(_ context: UnsafeMutableRawPointer) -> Int32 {
    #if canImport(Glibc)
      var thread = pthread_t()
      let status = pthread_create(&thread, nil, entry, context)
      if status == 0 { pthread_detach(thread) }
    #else
      var thread: pthread_t?
      let status = pthread_create(&thread, nil, entry, context)
      if status == 0, let thread { pthread_detach(thread) }
    #endif
    if status != 0 { Unmanaged<Job>.fromOpaque(context).release() }
    return status
  }

  private static func writeNow(_ bytes: BodyBytes, to path: String, isMore: Bool) -> CacheError? {
    let flags = isMore ? O_APPEND | O_NOFOLLOW : O_CREAT | O_EXCL
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0o600)
    guard descriptor >= 0 else { return failure(errno, "cannot make a file for a copy") }
    var code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    if close(descriptor) != 0, code == 0 { code = errno }
    guard code != 0 else { return nil }
    unlink(path)
    return failure(code, "cannot write a copy")
  }

  private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if written < 0 {
        if errno == EINTR { continue }
        return errno
      }
      rest = rest.dropFirst(written)
    }
    return 0
  }

  private static func failure(_ code: Int32, _ what: String) -> CacheError {
    CacheError(code == ENOSPC || code == EDQUOT ? .noSpace : .io, "\(what): \(text(code))")
  }

  private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
