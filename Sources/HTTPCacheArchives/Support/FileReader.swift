import HTTPCacheFiles
import HTTPCacheStore

/// Reads a file from its start to its end, a byte or a run of bytes at a time.
struct FileReader: ~Copyable {
  private static let pieceLength = 256 << 10

  let file: CacheFile
  let length: Int64
  private var buffer: [UInt8] = []
  private var next = 0
  private var bufferStart: Int64 = 0

  /// - Throws: `CacheError.io`, also if it is not a regular file.
  init(_ file: CacheFile) throws(CacheError) {
    self.file = file
    length = try file.length()
  }

  /// The place of the next byte.
  var position: Int64 { bufferStart + Int64(next) }

  /// Continues at another place.
  mutating func seek(to position: Int64) {
    if (bufferStart...bufferStart + Int64(buffer.count)).contains(position) {
      next = Int(position - bufferStart)
      return
    }
    buffer.removeAll(keepingCapacity: true)
    (next, bufferStart) = (0, max(0, min(position, length)))
  }

  /// The next byte, which stays the next; nil at the end.
  ///
  /// - Throws: `CacheError.io`, `CacheError.damaged` if the file became shorter.
  mutating func peek() throws(CacheError) -> UInt8? {
    if next == buffer.count { try fill() }
    return next < buffer.count ? buffer[next] : nil
  }

  /// The next byte; nil at the end.
  ///
  /// - Throws: as `peek`.
  mutating func byte() throws(CacheError) -> UInt8? {
    guard let byte = try peek() else { return nil }
    next += 1
    return byte
  }

  /// The next bytes that fulfil a condition, as far as they are in the buffer. Empty if the next byte does not, or at
  /// the end.
  ///
  /// - Throws: as `peek`.
  mutating func run(
    limit: Int = .max, while condition: (UInt8) -> Bool
  ) throws(CacheError) -> ArraySlice<UInt8> {
    guard try peek() != nil else { return [] }
    let last = min(buffer.count, next + min(limit, buffer.count))
    var end = next
    while end < last, condition(buffer[end]) { end += 1 }
    defer { next = end }
    return buffer[next..<end]
  }

  private mutating func fill() throws(CacheError) {
    bufferStart += Int64(buffer.count)
    next = 0
    let count = Int(min(Int64(Self.pieceLength), length - bufferStart))
    buffer = count > 0 ? try file.read(count, at: bufferStart).array : []
  }
}

/// Reads an open file that holds exactly one body. There are no checksums: the body is what the file says.
final class FileReading: BodyReader {
  private let file: CacheFile
  private let count: Int64

  init(_ file: CacheFile, length: Int64) {
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
