public import HTTPTypes

/// How the content of an answer compares with the response stored for the request before.
public enum ContentChange: Sendable, Hashable {
  /// The content is the same: it came from the store, the origin confirmed it (304), or the strong validators
  /// are equal (RFC 9110 §8.8.1).
  case unchanged
  /// The content is different: strong validators or digests (RFC 9530) differ.
  case changed
  /// Nothing was stored for the request before.
  case firstSeen
  /// The store was not read, or neither validators nor digests tell.
  case unknown

  /// Compares a response with a stored one by their fields.
  ///
  /// - Parameters:
  ///   - stored: the stored response.
  ///   - response: the head as it arrived.
  ///   - time: the time when it arrived.
  public static func between(
    _ stored: StoredResponse, and response: HTTPResponse, receivedAt time: Timestamp
  ) -> ContentChange {
    let fields = response.headerFields
    if let old = stored.strongValidator, let new = StrongValidator(fields, receivedAt: time) {
      return old == new ? .unchanged : .changed
    }
    // If the response is a part, the digest of its content is the digest of that part.
    let subjects: [IntegrityDigest.Subject] =
      response.status.code == 206 ? [.representation] : [.representation, .content]
    for subject in subjects {
      let old = IntegrityDigest.list(of: subject, in: stored.head.headerFields)
      for digest in IntegrityDigest.list(of: subject, in: fields)
      where old.contains(where: {
        $0.algorithm == digest.algorithm && $0.value != digest.value
      }) {
        return .changed
      }
    }
    return .unknown
  }
}
