public import HTTPCacheStore

/// The forms in which the responses of a cache can be written.
public enum ExportForm: String, Sendable, Hashable, CaseIterable {
  /// One file with checksums, which `ArchiveSeed` reads.
  case archive
  /// A folder of plain files, which `FolderSeed` reads.
  case folder
  /// HAR 1.2, which `RecordingSeed` and browsers' developer tools read.
  case har
  /// WARC 1.1, which `RecordingSeed` and web archives read; compressed if the path ends in `.gz`.
  case warc

  /// The form that the extension of a path names: `.har`, `.warc`, `.warc.gz` and `.hca`; nil for another.
  public init?(path: String) {
    let path = path.lowercased()
    if path.hasSuffix(".har") {
      self = .har
    } else if path.hasSuffix(".warc") || path.hasSuffix(".warc.gz") {
      self = .warc
    } else if path.hasSuffix(".hca") {
      self = .archive
    } else {
      return nil
    }
  }

  /// Writes the responses of a source in this form.
  ///
  /// - Parameters:
  ///   - source: the responses.
  ///   - path: the file or folder. An existing file is replaced; a folder must not exist.
  /// - Returns: the number of responses written.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.cancelled`, what reading the source throws.
  @discardableResult
  public func write(_ source: any SeedSource, to path: String) async throws(CacheError) -> Int {
    switch self {
    case .archive:
      let writer = try ArchiveWriter(path: path)
      let count = try await writer.add(contentsOf: source)
      try await writer.finish()
      return count
    case .folder: return try await FolderWriter.write(source, to: path)
    case .har: return try await HARWriter.write(source, to: path)
    case .warc: return try await WARCWriter.write(source, to: path)
    }
  }
}
