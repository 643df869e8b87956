import HTTPCacheFiles
import HTTPCacheStore

/// A local file that becomes the body of a response. Read in pieces, so that it is never in memory as a whole.
struct AdoptedFile: Sendable {
  /// Bytes when the file was opened.
  let length: Int64
  private let file: CacheFile
  private static let piece = 256 << 10

  var descriptor: Int32 { file.descriptor }

  /// - Throws: `CacheError.io` if there is no readable regular file.
  init(_ path: String) throws(CacheError) {
    file = try CacheFile(path: path)
    do throws(CacheError) { length = try file.length() } catch {
      throw CacheError(.io, "\(path): \(error.message)")
    }
  }

  /// The bytes from a position on, at most 256 KiB.
  ///
  /// - Throws: `CacheError.io` if the file cannot be read, `CacheError.damaged` if it is shorter than it was.
  func read(at offset: Int64) throws(CacheError) -> BodyBytes {
    try file.read(Int(min(Int64(Self.piece), length - offset)), at: offset)
  }
}
