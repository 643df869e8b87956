import ArgumentParser
import Foundation
import HTTPCaching

/// The content of a request, which may be sent more than once.
enum RequestContent: Sendable {
  case bytes(BodyBytes)
  /// A file, opened each time it is sent.
  case file(String)

  /// A body to send.
  ///
  /// - Throws: `ValidationError` if the file cannot be opened.
  func makeBody() throws -> MessageBody {
    switch self {
    case .bytes(let bytes): MessageBody(bytes)
    case .file(let path): MessageBody(try FileSource(path))
    }
  }

  /// The content that is part of a key, as for QUERY; nil for a file.
  var bytes: BodyBytes {
    if case .bytes(let bytes) = self { bytes } else { BodyBytes() }
  }

  /// Whether the content can be sent again.
  var isRepeatable: Bool {
    if case .file("-") = self { false } else { true }
  }
}
