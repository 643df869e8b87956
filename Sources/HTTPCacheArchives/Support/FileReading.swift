import HTTPCacheFiles
import HTTPCacheStore

/// Reads an open file that holds exactly one body. There are no checksums: the body is what the file says.
final class FileReading: BodyReader {
  private let file: OpenFile
  private let count: Int64

  init(_ file: OpenFile, length: Int64) {
    self.file = file
    count = length
  }

  var length: Int64? { count }

  var fileRegion: FileRegion? {
    FileRegion(descriptor: file.descriptor, offset: 0, count: count, isVerified: true)
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    let range = range.clamped(to: 0..<count)
    return try file.read(Int(range.upperBound - range.lowerBound), at: range.lowerBound)
  }
}
