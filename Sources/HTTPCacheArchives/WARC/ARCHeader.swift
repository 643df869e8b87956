import HTTPCacheSemantics

/// The line before each document of an ARC file, the format before WARC: the URL, the address of the server, the time,
/// the type and the length, with more fields in version 2.
struct ARCHeader {
  /// The first bytes of an ARC file.
  static let start = "filedesc://"
  /// The longest line in bytes.
  static let longest = 64 << 10

  let url: String
  /// In seconds since 1970; 0 if the line has another date, as for WARC.
  let time: Int64
  /// The length of the document in bytes.
  let length: Int64

  /// Nil for a line that is not as described.
  init?(_ line: [UInt8]) {
    let parts = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count >= 5, let length = parts.last.flatMap({ Int64($0) }),
      (0...Int64.max / 2).contains(length), let place = Self.timePlace(parts)
    else { return nil }
    url = parts[..<(place - 1)].joined(separator: " ")
    time = RecordedTime.seconds(String(parts[place].prefix(14))) ?? 0
    self.length = length
  }

  /// The place of the time in the line: a URL may have spaces, and the time is the only part of 14 digits. Without such a
  /// part, a line with as many parts as version 1 or 2 has its time in the third one.
  private static func timePlace(_ parts: [Substring]) -> Int? {
    if let place = parts.indices.dropFirst(2).dropLast(2).last(where: { isTime(parts[$0]) }) { return place }
    return [5, 10].contains(parts.count) && parts[0].contains(":") ? 2 : nil
  }

  private static func isTime(_ text: Substring) -> Bool {
    [12, 14, 17].contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The normalised target URI; nil if it is not an `http` or `https` URI.
  var target: String? { TargetURI.recorded(url) }
}
