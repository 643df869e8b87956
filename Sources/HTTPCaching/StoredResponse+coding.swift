import HTTPCacheSemantics

extension StoredResponse {
  /// Whether its body is in the form that a request wants: as the origin sent it, or without content
  /// coding.
  func hasForm(decoded: Bool) -> Bool {
    decoded ? !head.headerFields.contains(.contentEncoding) : !isDecoded
  }
}
