import HTTPCacheSemantics

extension StoredResponse {
  /// Whether the body is in a form that the request accepts.
  func isIn(_ forms: BodyForms) -> Bool {
    (forms.includesDecoded || !isDecoded)
      && (forms.includesCoded || !head.headerFields.contains(.contentEncoding))
  }
}
