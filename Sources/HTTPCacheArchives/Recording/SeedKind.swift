import HTTPCacheStore

/// The kind of a file with seeds, by its first bytes.
enum SeedKind {
  case archive
  case har
  case warc

  /// Nil for any other file.
  init?(of file: SystemFile) {
    guard let length = try? file.length(), length > 0,
      let start = try? file.read(Int(min(64, length)), at: 0).array
    else { return nil }
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
