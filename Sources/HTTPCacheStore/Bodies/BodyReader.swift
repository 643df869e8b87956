/// Reads a stored body at any place; safe to use from several tasks at once.
///
/// What a reader has open stays readable after its entry was removed.
public protocol BodyReader: AnyObject, Sendable {
  /// The length of the complete body in bytes; nil while it is unknown.
  var length: Int64? { get }

  /// The ranges of bytes that are there; one range from 0 for a complete body.
  var availableRanges: [Range<Int64>] { get }

  /// The whole body if it is in memory, so that a hit needs no suspension.
  var bytesInMemory: BodyBytes? { get }

  /// Where the body's bytes lie in a file, for `sendfile`; nil if they have no such place.
  var fileRegion: FileRegion? { get }

  /// Whether the stored bytes at `range` were checked, so that they may be sent from `fileRegion` without
  /// being read, even where others of it were not checked.
  func isVerified(_ range: Range<Int64>) -> Bool

  /// Reads at most `range`; fewer bytes only where the body ends or, for a growing body, where
  /// what has arrived ends. Verifies the checksums of the blocks it reads.
  ///
  /// - Throws: `CacheError.damaged` where a checksum does not hold, `CacheError.io` otherwise.
  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes

  /// Writes the whole body to a new file at `path`, sharing blocks where the file system can, but never
  /// so that the body changes with the file. If it throws, it leaves no file.
  ///
  /// - Throws: `CacheError.unavailable` of a body that is stored in part or still growing; `CacheError.io`,
  ///   also if there is something at `path`; `CacheError.noSpace`, `CacheError.damaged`.
  func clone(to path: String) async throws(CacheError)
}

extension BodyReader {
  /// Where the whole file was checked.
  public func isVerified(_ range: Range<Int64>) -> Bool {
    guard let region = fileRegion else { return false }
    return region.isVerified && range.lowerBound >= 0 && range.upperBound <= region.count
  }
}
