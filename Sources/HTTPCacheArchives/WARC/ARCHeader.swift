import HTTPCacheSemantics

/// The line before each document of an ARC file, the format before WARC: the URL, the address of the server, the time,
/// the type and the length, with more fields in version 2.
struct ARCHeader {
  /// The first bytes of an ARC file.
  static let start = "filedesc://"
  /// The longest line in bytes.
  static let longest = 64 << 10

  let url: String
  /// In seconds since 1970.
  let time: Int64
  /// The length of the document in bytes.
  let length: Int64

  /// Nil for a line that is not as described.
  init?(_ line: [UInt8]) {
    let parts = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
    // A URL may have spaces: the time is the only part of 14 digits.
    guard parts.count >= 5, let length = parts.last.flatMap({ Int64($0) }),
      (0...Int64.max / 2).contains(length),
      let place = parts.indices.dropFirst(2).dropLast(2).last(where: { Self.isTime(parts[$0]) }),
      let time = RecordedTime.seconds(String(parts[place].prefix(14)))
    else { return nil }
    url = parts[..<(place - 1)].joined(separator: " ")
    self.time = time
    self.length = length
  }

  private static func isTime(_ text: Substring) -> Bool {
    [12, 14, 17].contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The normalised target URI; nil if it is not an `http` or `https` URI.
  var target: String? { TargetURI.recorded(url) }
}
