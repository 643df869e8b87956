import ArgumentParser
import Foundation
import HTTPCaching

/// The content of a request, which may be sent more than once.
enum RequestContent: Sendable {
  case bytes(BodyBytes)
  /// A file, opened each time it is sent.
  case file(String)
  /// Standard input, from this offset on if it is a regular file; nil for a pipe or a terminal.
  case standardInput(from: Int64?)

  /// The content of a file; `-` is standard input.
  ///
  /// - Throws: `ValidationError` if the file cannot be opened.
  init(file path: String) throws {
    guard path != "-" else {
      self = .standardInput(from: FileSource.standardInputOffset)
      return
    }
    _ = try FileSource(path)
    self = .file(path)
  }

  /// A body to send.
  ///
  /// - Throws: `ValidationError` if the file cannot be opened.
  func makeBody() throws -> MessageBody {
    switch self {
    case .bytes(let bytes): MessageBody(bytes)
    case .file(let path): MessageBody(try FileSource(path))
    case .standardInput(let start): MessageBody(try FileSource(standardInputFrom: start))
    }
  }

  /// The content that is part of a key, as for QUERY; nil for a file.
  var bytes: BodyBytes {
    if case .bytes(let bytes) = self { bytes } else { BodyBytes() }
  }

  /// Whether the content can be sent again.
  var isRepeatable: Bool { obstacle == nil }

  /// Why the content cannot be sent again; nil if it can.
  var obstacle: String? {
    switch self {
    case .bytes: nil
    case .file(let path): FileSource.isRegular(path) ? nil : "\(path) is not a regular file"
    case .standardInput(let start): start == nil ? "standard input is not a regular file" : nil
    }
  }
}
