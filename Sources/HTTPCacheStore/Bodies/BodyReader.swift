import HTTPCacheFiles
import HTTPCacheLibC

/// Reads a stored body at any place; safe to use from several tasks at once.
///
/// An open reader stays readable after its entry was removed.
public protocol BodyReader: AnyObject, Sendable {
  /// The length of the complete body in bytes; nil while it is unknown.
  var length: Int64? { get }

  /// The ranges of bytes that can be read; one range from 0 for a complete body. The default
  /// implementation returns that; a body that is stored in part or still growing needs its own.
  var availableRanges: [Range<Int64>] { get }

  /// The whole body if it is in memory, so that a hit needs no suspension. nil by default.
  var bytesInMemory: BodyBytes? { get }

  /// The place of the body's bytes in a file, for `sendfile`; nil if they are not in a file as they are, and
  /// by default.
  var fileRegion: FileRegion? { get }

  /// Whether the stored bytes in `range` were checked, so that they may be sent from `fileRegion` without being
  /// read, even if other bytes were not checked.
  func isVerified(_ range: Range<Int64>) -> Bool

  /// Reads at most `range`; fewer bytes only where the body ends or, for a growing body, where the arrived
  /// bytes end. Verifies the checksums of the blocks it reads.
  ///
  /// - Throws: `CacheError.damaged` if a checksum does not match, `CacheError.io` otherwise.
  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes

  /// Writes the whole body to a new file at `path`. Shares blocks where the file system supports it, but
  /// changes of the file never change the body. If this throws, it leaves no file. The default implementation
  /// reads and writes 256 KiB at a time.
  ///
  /// - Throws: `CacheError.unavailable` for a body that is stored in part or still growing; `CacheError.io`,
  ///   also if a file exists at `path`; `CacheError.noSpace`, `CacheError.damaged`.
  func clone(to path: String) async throws(CacheError)
}

extension BodyReader {
  /// One range: the whole body.
  public var availableRanges: [Range<Int64>] { [0..<(length ?? 0)] }

  /// Returns nil.
  public var bytesInMemory: BodyBytes? { nil }

  /// Returns nil.
  public var fileRegion: FileRegion? { nil }

  /// Reads and writes 256 KiB at a time.
  ///
  /// - Throws: `CacheError`, as the requirement says.
  public func clone(to path: String) async throws(CacheError) {
    guard let length, StoredRanges.count(availableRanges) == length else {
      throw CacheError(.unavailable, "the body is not complete, so it cannot be cloned")
    }
    try await writeFile(at: path, length: length)
  }

  /// Whether the whole file was checked.
  public func isVerified(_ range: Range<Int64>) -> Bool {
    guard let region = fileRegion else { return false }
    return region.isVerified && range.lowerBound >= 0 && range.upperBound <= region.count
  }
}

extension BodyReader {
  /// Writes the body to a new file with mode 0600, on a separate thread: the threads of Swift concurrency must not wait
  /// for a disk. If this throws, it leaves no file.
  ///
  /// - Parameter length: the length of the body in bytes.
  /// - Throws: what `read` throws; `CacheError.damaged` if the stored body ends before; `CacheError.io`, also if a file
  ///   exists at `path`; `CacheError.noSpace`.
  package func writeFile(at path: String, length: Int64) async throws(CacheError) {
    let queue = WorkQueue(threads: 1)
    let descriptor = try await queue.run { () throws(CacheError) -> Int32 in
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw CacheFile.failure("make \(path)") }
      return descriptor
    }
    var failure: CacheError?
    do throws(CacheError) {
      try await readPieces(of: 0..<length) { (bytes) throws(CacheError) in
        let code = await queue.run { bytes.withUnsafeBytes { Descriptor.writeAll($0, to: descriptor) } }
        if code != 0 { throw CacheFile.failure("write \(path)", code) }
      }
    } catch { failure = error }
    // A network file system may report only now that it did not store the bytes.
    let code = await queue.run { close(descriptor) == 0 ? 0 : errno }
    if failure == nil, code != 0 { failure = CacheFile.failure("close \(path)", code) }
    guard let failure else { return }
    unlink(path)
    throw failure
  }

  /// Reads a range, and calls `body` with each piece of at most 256 KiB.
  ///
  /// - Throws: `CacheError.damaged` if the stored body ends before; what reading and `body` throw.
  package func readPieces(
    of range: Range<Int64>, _ body: (BodyBytes) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    var position = range.lowerBound
    while position < range.upperBound {
      let bytes = try await read(position..<min(range.upperBound, position + (256 << 10)))
      guard !bytes.isEmpty else { throw CacheError(.damaged, "the body ended at byte \(position)") }
      try await body(bytes)
      position += Int64(bytes.count)
    }
  }

  /// All bytes of a range.
  ///
  /// - Throws: as `readPieces(of:_:)`.
  package func readAll(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    var pieces: [BodyBytes] = []
    try await readPieces(of: range) { pieces.append($0) }
    return BodyBytes(joining: pieces)
  }

  /// As `readAll`, unless the task was cancelled: writing a large export ends soon, and leaves no file.
  ///
  /// - Throws: `CacheError.cancelled`, what reading throws.
  package func readCancellably(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    if Task.isCancelled { throw CacheError(.cancelled, "the task was cancelled") }
    return try await readAll(range)
  }
}
