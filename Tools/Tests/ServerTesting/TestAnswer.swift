package import NIOHTTP1

/// An answer that was read to its end.
package struct TestAnswer: Sendable {
  /// The status code.
  package let status: Int
  /// The fields.
  package let headers: HTTPHeaders
  /// The body as text.
  package let body: String

  /// Makes an answer.
  package init(status: Int, headers: HTTPHeaders, body: String) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first value of a field.
  package subscript(name: String) -> String? { headers.first(name: name) }

  /// Whether `Cache-Status` says that it came from the store.
  package var isHit: Bool { self["Cache-Status"]?.contains("; hit") ?? false }
}
