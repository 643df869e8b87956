import HTTPCacheFiles
public import HTTPCacheSemantics
public import HTTPCacheStore

/// Seeds in a recording of traffic: a HAR file, as browsers export it, a WARC or an ARC file, as crawlers write it, each
/// also compressed with gzip, or a WACZ file.
///
/// ```swift
/// let cache = try HTTPCache.open(
///   HTTPCache.Configuration(directory: "cache", seeds: [try RecordingSeed(path: "site.har")]))
/// ```
///
/// Opening reads the whole recording once, and copies its responses to a temporary file without a name, so that
/// memory stays small. For an app make an archive of it: `httpcache pack content.hca --from site.har`.
///
/// Responses to GET that are complete become seeds; of several for one URL, the last. Cookies are dropped, and
/// responses to requests with `Authorization` are left out.
public final class RecordingSeed: SeedSource {
  /// The path of the recording.
  public let name: String
  /// Parts that are left out, and why; at most 100.
  public let notes: [String]
  /// The number of parts that are left out, also those beyond the notes.
  public let noteCount: Int
  private let archive: ArchiveSeed

  /// Opens a recording.
  ///
  /// - Throws: `CacheError.damaged` if the file is in none of these forms, or a HAR file was cut;
  ///   `CacheError.tooLarge` if the file unpacks to more than 64 MiB and 50 times its length; `CacheError.noSpace`,
  ///   `CacheError.io`.
  public init(path: String) throws(CacheError) {
    name = path
    let file = try CacheFile(path: path)
    var output = try RecordingOutput(of: file, path)
    switch try SeedKind(of: file, path) {
    case .har, .compressedHAR:
      try HARImport.run(try UnpackedCopy.har(file, name: path), name: path, into: &output)
    case .warc: try WARCImport.run(file, name: path, into: &output)
    case .wacz: try WACZImport.run(file, name: path, into: &output)
    case .archive, nil:
      throw CacheError(.damaged, "\(path) is neither a HAR, a WARC, an ARC nor a WACZ file")
    }
    notes = output.notes
    noteCount = output.noteCount
    archive = try ArchiveSeed(try output.finish(), path)
  }

  /// The number of responses.
  public var count: Int { archive.count }

  /// The latest time at which a response was received.
  public var newest: Timestamp { archive.newest }

  /// The responses for a target.
  ///
  /// - Throws: `CacheError.io`.
  public func responses(to target: String) throws(CacheError) -> [SeedResponse] {
    try archive.responses(to: target)
  }

  /// A part of the list of all responses.
  ///
  /// - Throws: `CacheError.io`.
  public func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse] {
    try archive.responses(from: position, limit: limit)
  }
}
