/// A body cannot be decoded.
struct ContentCodingFailure: Error, CustomStringConvertible {
  /// Why not.
  enum Reason: Sendable {
    /// The bytes are not in the coding that the response names, or memory ran out.
    case malformed
    /// Bytes follow the end of the coded content.
    case trailing
    /// The content needs a window of more than this many bytes.
    case window(limit: Int)
  }

  let coding: ContentCoding
  var reason = Reason.malformed

  var description: String {
    switch reason {
    case .malformed: "the body is not the \(coding.rawValue) that its Content-Encoding says"
    case .trailing: "the body goes on after the end of its \(coding.rawValue) (Content-Encoding)"
    case .window(let limit):
      "the \(coding.rawValue) of the body needs a window of more than \(limit >> 20) MiB, the limit (RFC 9659)"
    }
  }
}

/// A response has more content codings than `ContentCoding.limit`.
struct TooManyCodings: Error {
  /// Their number.
  let count: Int
}
