import HTTPCacheFiles
import HTTPCacheStore

/// The kind of a file with seeds, by its first bytes.
enum SeedKind {
  case archive
  case har
  case warc

  /// Nil for any other file.
  ///
  /// - Throws: `CacheError.io`, also if it is not a regular file; `CacheError.damaged` if it is cut meanwhile.
  init?(of file: OpenFile) throws(CacheError) {
    let start = try file.read(Int(min(64, try file.length())), at: 0).array
    // A byte order mark and spaces may come before the JSON.
    let text = start.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
    if start.starts(with: ArchiveFormat.magic.dropLast()) {
      self = .archive
    } else if start.starts(with: "WARC/".utf8) || start.starts(with: [0x1F, 0x8B]) {
      self = .warc
    } else if text.first == UInt8(ascii: "{") {
      self = .har
    } else {
      return nil
    }
  }
}
