import Foundation

/// Decodes the bytes of a page.
struct PageCharset {
  private static let encodings: [String: String.Encoding] = [
    "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1253": .windowsCP1253,
    "windows-1254": .windowsCP1254, "iso-8859-2": .isoLatin2, "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC,
  ]

  private let encoding: String.Encoding

  /// - Parameter name: a charset; other bytes than UTF-8 of an unknown one are read as windows-1252, as browsers do.
  init(_ name: String?) { encoding = name.flatMap { Self.encodings[$0.lowercased()] } ?? .windowsCP1252 }

  func text(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(bytes: bytes, encoding: encoding)
      ?? String(decoding: bytes, as: UTF8.self)
  }
}
