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
  /// reads and writes a MiB at a time.
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

  /// Reads and writes a MiB at a time.
  ///
  /// - Throws: `CacheError`, as the requirement says.
  public func clone(to path: String) async throws(CacheError) {
    guard let length, StoredRanges.count(availableRanges) == length else {
      throw CacheError(.unavailable, "the body is not complete, so it cannot be cloned")
    }
    try await NewFile.make(at: path, length: length) { (range) throws(CacheError) in
      try await self.read(range)
    }
  }

  /// Whether the whole file was checked.
  public func isVerified(_ range: Range<Int64>) -> Bool {
    guard let region = fileRegion else { return false }
    return region.isVerified && range.lowerBound >= 0 && range.upperBound <= region.count
  }
}

extension BodyReader {
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
