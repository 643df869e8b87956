import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
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
  private static func formEncode(_ data: Data) -> String {
    TargetURI.percentEncoded(data).replacing("%20", with: "+")
  }

  /// Joins parts with `&`, in the order of the command line.
  ///
  /// - Throws: `ValidationError` if a file cannot be read.
  static func joined(_ parts: [DataArgument]) throws -> Data {
    let parts = try parts.sorted { $0.order < $1.order }.map { try $0.bytes() }
    return Data(parts.joined(separator: Data("&".utf8)))
  }
}

/// A file that an argument names, such as `-d @FILE`.
enum InputFile {
  /// Reads a file to its end.
  ///
  /// - Parameter path: `-` is standard input.
  /// - Throws: `ValidationError` if the file cannot be read.
  static func contents(_ path: some StringProtocol) throws -> Data {
    do {
      let file = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: String(path))
      guard let data = try file?.readToEnd() ?? (file == nil ? nil : Data()) else { throw unreadable(path) }
      return data
    } catch {
      throw unreadable(path)
    }
  }

  private static func unreadable(_ path: some StringProtocol) -> ValidationError {
    let reason = SystemMessage.text(errno)
    return ValidationError(path == "-" ? "cannot read standard input" : "cannot read \(path): \(reason)")
  }
}
