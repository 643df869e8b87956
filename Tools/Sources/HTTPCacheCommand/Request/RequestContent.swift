import ArgumentParser
import Foundation
import HTTPCaching

/// The content of a request, which may be sent more than once.
enum RequestContent: Sendable {
  case bytes(BodyBytes)
  /// A file, opened for each time that it is sent.
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

  /// The bytes that are part of a key, as those of a QUERY are; none of a file.
  var bytes: BodyBytes {
    if case .bytes(let bytes) = self { bytes } else { BodyBytes() }
  }

  /// Whether the content can be sent again.
  var isRepeatable: Bool {
    if case .file("-") = self { false } else { true }
  }
}
