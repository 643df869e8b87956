import HTTPCacheFiles
import HTTPCacheStore

/// Copies of parts of files without their compression, for readers that go back and forth.
enum UnpackedCopy {
  private static let pieceLength: Int64 = 256 << 10

  /// A HAR file as it is, or a copy of one that is compressed with gzip.
  ///
  /// - Throws: as `make`; `CacheError.damaged` also for a file in another form that is known and not read.
  static func har(_ file: CacheFile, name: String) throws(CacheError) -> CacheFile {
    guard case .compressedHAR = try SeedKind(of: file, name) else { return file }
    let length = try file.length()
    var limit = UnpackedLimit(length: length)
    return try make(0..<length, of: file, .gzip, name: name, limit: &limit)
  }

  /// Copies a part of a file to a file without a name. Compressed bytes that end too early are copied as far as they go:
  /// the reader of the copy finds that its end is missing.
  ///
  /// - Parameters:
  ///   - format: the compression; nil for none.
  ///   - name: the path of the file, for messages.
  ///   - limit: what is left of the bytes that the file may unpack to.
  /// - Throws: `CacheError.damaged` if the bytes do not have the format, `CacheError.tooLarge` if they unpack to too much,
  ///   `CacheError.io`, `CacheError.noSpace`.
  static func make(
    _ range: Range<Int64>, of file: CacheFile, _ format: DeflateDecoder.Format?, name: String,
    limit: inout UnpackedLimit
  ) throws(CacheError) -> CacheFile {
    let copy = try CacheFile.temporary()
    var decoder: DeflateDecoder?
    if let format {
      do { decoder = try DeflateDecoder(format) } catch {
        throw CacheError(.io, "no memory to decompress")
      }
    }
    // Another member may follow the end of a member of gzip.
    let hasMembers = format == .gzip
    var position = range.lowerBound
    while position < range.upperBound {
      var piece = try file.read(Int(min(pieceLength, range.upperBound - position)), at: position)
      position += Int64(piece.count)
      guard decoder != nil else {
        try limit.take(Int64(piece.count), of: name)
        try copy.write(piece)
        continue
      }
      repeat {
        guard hasMembers || decoder?.isEnded == false, let output = try? decoder?.decode(&piece) else {
          throw CacheError(.damaged, "damaged data in \(name)")
        }
        try limit.take(Int64(output.count), of: name)
        try copy.write(output)
      } while (hasMembers || decoder?.isEnded == false) && (!piece.isEmpty || decoder?.hasOutput == true)
    }
    return copy
  }
}
