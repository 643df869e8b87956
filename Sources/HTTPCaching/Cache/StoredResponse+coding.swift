import HTTPCacheSemantics

extension StoredResponse {
  /// Whether its body is in a form that a request can use.
  func hasForm(decoded: Bool, encoded: Bool) -> Bool {
    (decoded || !isDecoded) && (encoded || !head.headerFields.contains(.contentEncoding))
  }
}
