import ArgumentParser
import Foundation
import Synchronization

/// One `-d`, `--data-binary`, `--data-raw` or `--data-urlencode`.
struct DataArgument: Sendable {
  /// How the text becomes bytes.
  enum Kind: Sendable {
    /// Text, or `@FILE` without its line ends.
    case text
    /// Text, or `@FILE` unchanged.
    case binary
    /// Text, even if it begins with `@`.
    case raw
    /// `content`, `=content`, `name=content`, `@FILE` or `name@FILE`, percent-encoded.
    case urlEncoded
  }

  private static let count = Mutex(0)

  /// The position among all data options on the command line: ArgumentParser collects each option separately,
  /// but reads them in this order.
  let order: Int
  private let kind: Kind
  private let text: String

  init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
    order = Self.count.withLock {
      $0 += 1
      return $0
    }
  }

  /// The bytes to send.
  ///
  /// - Throws: `ValidationError` if the file cannot be read.
  func bytes() throws -> Data {
    switch kind {
    case .raw: return Data(text.utf8)
    case .text, .binary:
      guard text.hasPrefix("@") else { return Data(text.utf8) }
      let data = try InputFile.contents(text.dropFirst())
      return kind == .binary ? data : data.filter { $0 != 0 && $0 != 0x0A && $0 != 0x0D }
    case .urlEncoded: return Data(try urlEncoded().utf8)
    }
  }

  private func urlEncoded() throws -> String {
    guard let sign = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
      return Self.formEncode(Data(text.utf8))
    }
    let (name, rest) = (text[..<sign], text[text.index(after: sign)...])
    let content = Self.formEncode(text[sign] == "@" ? try InputFile.contents(rest) : Data(rest.utf8))
    return name.isEmpty ? content : "\(name)=\(content)"
  }

  /// Percent-encodes as forms do, with + for a space.
  private static func formEncode(_ data: Data) -> String { encode(data).replacing("%20", with: "+") }

  /// Percent-encodes all but unreserved characters (RFC 3986 §2.3).
  static func encode(_ data: Data) -> String {
    data.map { byte in
      let scalar = UnicodeScalar(byte)
      let isKept = scalar.isASCII && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte))
      return isKept || "-._~".unicodeScalars.contains(scalar)
        ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// Joins parts with `&`, in the order of the command line.
  ///
  /// - Throws: `ValidationError` if a file cannot be read.
  static func joined(_ parts: [DataArgument]) throws -> Data {
    let parts = try parts.sorted { $0.order < $1.order }.map { try $0.bytes() }
    return Data(parts.joined(separator: Data("&".utf8)))
  }
}
