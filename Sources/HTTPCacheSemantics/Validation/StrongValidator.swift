package import HTTPTypes

/// A value that tells whether two responses have the same representation, octet for octet (RFC 9110 §8.8.1).
package struct StrongValidator: Hashable {
  /// The field value, as `If-Range` carries it.
  package let value: [UInt8]

  /// The strong entity tag; without any entity tag, a `Last-Modified` at least a second before
  /// `Date`, which makes it strong (§8.8.2.2, §13.1.5).
  package init?(_ fields: HTTPFields, receivedAt time: Timestamp) {
    if let tag = fields.first(.eTag) {
      guard fields.hasOneStrongTag else { return nil }
      value = tag.withUnsafeBytesOfValue { Array($0) }
      return
    }
    guard let modified = fields.date(.lastModified, relativeTo: time).time,
      let sent = fields.date(.date, relativeTo: time).time, modified < sent,
      let field = fields.first(.lastModified)
    else { return nil }
    value = field.withUnsafeBytesOfValue { Array($0) }
  }
}

extension StoredResponse {
  /// Nil if the response has no strong validator.
  package var strongValidator: StrongValidator? {
    StrongValidator(head.headerFields, receivedAt: responseTime)
  }
}
