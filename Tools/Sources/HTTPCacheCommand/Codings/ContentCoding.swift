import Foundation
import HTTPCaching

/// A content coding that `get` asks for and removes (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
enum ContentCoding: String, CaseIterable {
  case gzip
  case deflate
  case br
  case zstd

  /// Maximum number of codings of one body.
  static let limit = 4

  /// The value of `Accept-Encoding`.
  static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

  /// Reads the name of a coding, which has no case; `x-gzip` is `gzip` (RFC 9110 §8.4.1.3).
  init?(name: some StringProtocol) {
    let name = name.lowercased()
    self.init(rawValue: name == "x-gzip" ? "gzip" : name)
  }

  /// The codings of a body in the order in which they were applied, without `identity`; nil if one of them is unknown.
  static func all(in field: String) -> [ContentCoding]? {
    let names = field.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && $0.lowercased() != "identity" }
    let codings = names.compactMap { ContentCoding(name: $0) }
    return codings.count == names.count ? codings : nil
  }

  /// Endings of files that have the coding themselves. Some servers announce it for them as a content coding.
  private var endings: [String] {
    switch self {
    case .gzip: [".gz", ".tgz"]
    case .deflate: []
    case .br: [".br"]
    case .zstd: [".zst", ".tzst"]
    }
  }

  /// Whether the coding is that of a file, so that it must stay.
  ///
  /// - Parameters:
  ///   - path: the URL's, without the query.
  ///   - type: `Content-Type` without parameters.
  func isOfFile(path: String, type: String) -> Bool {
    let path = path.lowercased()
    return endings.contains { path.hasSuffix($0) }
      || type.lowercased().contains(self == .br ? "brotli" : rawValue)
  }

  /// A decoder.
  ///
  /// - Throws: `ContentCodingFailure` if memory runs out.
  func makeDecoder() throws(ContentCodingFailure) -> any ContentDecoder {
    switch self {
    case .gzip, .deflate: try DeflateContent(self)
    case .br: try BrotliDecoder()
    case .zstd: try ZstdDecoder()
    }
  }
}

/// Decodes a body piece by piece, so that a small body that becomes a large one takes no more memory than another.
protocol ContentDecoder: AnyObject {
  /// Whether all of the coded bytes have come.
  var isEnded: Bool { get }
  /// Whether any input has come.
  var hasBegun: Bool { get }
  /// Whether there may be another piece without more input.
  var hasOutput: Bool { get }

  /// Decodes until a piece is full.
  ///
  /// - Parameter input: the bytes that were read are removed from it.
  /// - Returns: a piece; empty if more input is needed.
  /// - Throws: `ContentCodingFailure`.
  func decode(_ input: inout BodyBytes) throws(ContentCodingFailure) -> BodyBytes
}
