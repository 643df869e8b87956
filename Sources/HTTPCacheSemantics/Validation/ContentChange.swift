public import HTTPTypes

/// How the content of an answer compares with what was stored for the request before.
public enum ContentChange: Sendable, Hashable {
  /// It is the same: it came from the store, the origin confirmed it (304), or it has the same strong
  /// validator (RFC 9110 §8.8.1).
  case unchanged
  /// It is another one: its strong validator or its digest (RFC 9530) is different.
  case changed
  /// Nothing was stored for the request before.
  case firstSeen
  /// The store was not asked, or neither validators nor digests tell.
  case unknown

  /// Compares a response with a stored one by what their fields tell.
  ///
  /// - Parameters:
  ///   - stored: what was stored.
  ///   - response: the head as it arrived.
  ///   - time: when it arrived.
  public static func between(
    _ stored: StoredResponse, and response: HTTPResponse, receivedAt time: Timestamp
  ) -> ContentChange {
    let fields = response.headerFields
    if let old = stored.strongValidator, let new = StrongValidator(fields, receivedAt: time) {
      return old == new ? .unchanged : .changed
    }
    // The digest of the content is that of a part where the response is one.
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
