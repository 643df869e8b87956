import HTTPCacheSemantics

/// The forms of a stored body that a request accepts. A body may be stored in a content coding (RFC 9110 §8.4),
/// or decoded before it was stored, as by `URLSession`.
public enum BodyForms: Sendable, Hashable {
  /// As the origin sent the body, with or without a content coding.
  case asSent
  /// As the origin sent the body, without a content coding.
  case uncoded
  /// Without a content coding: sent without one, or decoded before it was stored. For a caller that cannot
  /// decode.
  case decoded
  /// All forms. The caller decodes a body that has a content coding.
  case any

  /// Whether a body that was decoded before it was stored is accepted.
  package var includesDecoded: Bool { self == .decoded || self == .any }

  /// Whether a body in a content coding is accepted.
  package var includesCoded: Bool { self == .asSent || self == .any }
}

extension StoredResponse {
  /// Whether the body is in a form that the request accepts.
  func isIn(_ forms: BodyForms) -> Bool {
    (forms.includesDecoded || !isDecoded)
      && (forms.includesCoded || !head.headerFields.contains(.contentEncoding))
  }
}
