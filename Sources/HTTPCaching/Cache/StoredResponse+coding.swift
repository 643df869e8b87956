import HTTPCacheSemantics

extension StoredResponse {
  /// Whether the body is in a form that the request accepts.
  func hasForm(decoded: Bool, encoded: Bool) -> Bool {
    (decoded || !isDecoded) && (encoded || !head.headerFields.contains(.contentEncoding))
  }
}
