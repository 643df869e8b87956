import HTTPCacheSemantics
package import HTTPTypes

/// The request that a redirect asks for (RFC 9110 §15.4).
package struct Redirect: Sendable {
  /// Bytes of a redirect's own body that are read to store it.
  private static let drainLimit = 64 << 10

  /// The next request.
  package let request: HTTPRequest
  /// Whether the next request has the content of the redirected one, if there is any: a 303 asks for a request without
  /// content, and so do a 301 and a 302 after a POST.
  package let keepsContent: Bool

  /// Nil if the response is not a redirect that can be followed: `Location` is missing or unusable, or content
  /// would have to be sent again and cannot be.
  package init?(of request: HTTPRequest, isRepeatable: Bool, response: HTTPResponse, base: String) {
    let status = response.status
    // Each hit passes here.
    guard status.isRedirect,
      let location = response.headerFields[.location],
      let target = TargetURI.resolved(location, against: base),
      let parts = TargetURI.parts(of: target)
    else { return nil }
    var next = request
    keepsContent =
      !(status == .seeOther || ((status == .movedPermanently || status == .found) && request.method == .post))
    if !keepsContent {
      if request.method != .head { next.method = .get }
      for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .contentLanguage] {
        next.headerFields[name] = nil
      }
    } else if !isRepeatable {
      return nil
    }
    next.scheme = parts.scheme
    next.authority = parts.authority
    next.path = parts.path
    if TargetURI.origin(of: target) != TargetURI.origin(of: base) {
      next.headerFields.removeAll { FieldHygiene.isCredential($0.name) }
    }
    next.headerFields[FieldNames.host] = nil
    self.request = next
  }

  /// Reads a redirect's body to its end, so that a storable redirect is stored. Ignores a body that breaks
  /// off: its transfer reports why it is not stored.
  ///
  /// - Throws: `CancellationError`.
  package static func drain(_ body: MessageBody) async throws {
    var count = 0
    do {
      while count <= drainLimit, let bytes = try await body.source.next() { count += bytes.count }
    } catch {
      try Task.checkCancellation()
    }
    body.source.cancel()
  }
}
