import Foundation
import HTTPCacheSemantics
import HTTPCacheStore

/// The header of a WARC record (WARC 1.1 §5).
struct WARCRecord {
  private static let longestHeader = 64 << 10
  private static let concurrent = "warc-concurrent-to"

  private let fields: [String: String]
  /// The length of the block in bytes.
  let length: Int64

  /// Whether bytes begin like a record. The letters may be in any case: the format defines them as a string of ABNF
  /// (WARC 1.1 §4, RFC 5234 §2.3).
  static func begins(_ bytes: some Collection<UInt8>) -> Bool {
    String(decoding: bytes.prefix(5), as: UTF8.self).lowercased() == "warc/"
  }

  /// Reads the header.
  ///
  /// - Returns: nil if the input does not go on with a header.
  /// - Throws: `CacheError.io`.
  init?(_ input: inout WARCInput) throws(CacheError) {
    guard try input.beginsRecord(), try input.line(limit: 32) != nil else { return nil }
    var fields: [String: String] = [:]
    var (rest, last) = (Self.longestHeader, "")
    while true {
      guard let line = try input.line(limit: rest) else { return nil }
      rest -= line.count + 1
      if line.isEmpty { break }
      let text = String(decoding: line, as: UTF8.self)
      if text.first == " " || text.first == "\t" {
        // A folded line may follow a name without a value (WARC 1.1 §4).
        let value = text.trimmingCharacters(in: .whitespaces)
        if fields[last]?.isEmpty == false { fields[last]? += " " }
        fields[last, default: ""] += value
        continue
      }
      guard let colon = text.firstIndex(of: ":") else { return nil }
      last = text[..<colon].lowercased()
      let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      // The only field of interest that may come several times (WARC 1.1 §5.7).
      fields[last] = last == Self.concurrent ? (fields[last].map { $0 + " " } ?? "") + value : value
    }
    guard let text = fields["content-length"], text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      // The place of the end must be a number, too.
      let length = Int64(text), length <= Int64.max / 2
    else { return nil }
    self.fields = fields
    self.length = length
  }

  /// A named field.
  subscript(name: String) -> String? { fields[name] }

  /// The type of the record, such as `response`.
  var type: String { fields["warc-type"]?.lowercased() ?? "" }

  /// The normalised target URI; nil if it is not an `http` or `https` URI.
  var target: String? {
    guard var text = fields["warc-target-uri"] else { return nil }
    // wget writes the URI between angle brackets, as an example of WARC 1.0 does.
    if text.hasPrefix("<"), text.hasSuffix(">") { text = String(text.dropFirst().dropLast()) }
    return TargetURI.recorded(text)
  }

  /// The records that it belongs to.
  var concurrents: [String] { (fields[Self.concurrent] ?? "").split(separator: " ").map(String.init) }

  /// When the record was made, in seconds since 1970; nil if it does not tell.
  var time: Int64? { fields["warc-date"].flatMap(RecordedTime.seconds) }

  /// Whether the header says that the block is an HTTP message; nil if it does not tell.
  var isHTTP: Bool? { fields["content-type"].map { $0.lowercased().hasPrefix("application/http") } }

  /// Whether the record is a revisit of a response that an origin confirmed (WARC 1.1 §6.7.3).
  var isConfirmation: Bool { fields["warc-profile"]?.lowercased().hasSuffix("server-not-modified") ?? false }
}
