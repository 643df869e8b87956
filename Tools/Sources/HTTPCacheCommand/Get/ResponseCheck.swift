import HTTPCacheSemantics
import HTTPCaching

/// Refuses responses that cannot be ones to a request, before a byte of them replaces a file.
struct ResponseCheck {
  private let request: HTTPRequest
  private let content: RequestContent?
  private let redirectLimit: Int

  /// - Parameter redirectLimit: the maximum number of redirects; 0 returns redirects.
  init(_ request: HTTPRequest, content: RequestContent?, redirectLimit: Int) {
    self.request = request
    self.content = content
    self.redirectLimit = redirectLimit
  }

  /// Checks the head of a response.
  ///
  /// - Parameters:
  ///   - target: the URL that answered.
  ///   - isContinued: whether the response continues an earlier transfer, so that its range was checked.
  /// - Throws: `UpstreamError`.
  func check(_ head: HTTPResponse, from target: String, isContinued: Bool) throws {
    let conditions: [HTTPField.Name] = [.ifNoneMatch, .ifModifiedSince]
    switch head.status.code {
    case 101: throw UpstreamError(.protocol, "101 without a requested upgrade (RFC 9110 §15.2.2)")
    case 206 where !isContinued && !isRequested(head):
      let range = head.headerFields[.contentRange].map { " (\($0))" } ?? ""
      throw UpstreamError(.protocol, "206 with a range that was not requested\(range) (RFC 9110 §15.3.7)")
    case 304 where !conditions.contains { request.headerFields[$0] != nil }:
      throw UpstreamError(.protocol, "304 to a request without a condition (RFC 9110 §15.4.5)")
    case 301, 302, 303, 307, 308:
      // The cache follows redirects; what it returns could not be followed.
      guard redirectLimit > 0, let location = head.headerFields[.location], !location.isEmpty else { return }
      let shown = TargetURL.shown(location).prefix(200)
      let redirect = "the redirect (\(head.status.code)) to '\(shown)'"
      // A usable Location is not followed only if the content would have to be sent again.
      if let obstacle = content?.obstacle, TargetURI.resolved(location, against: target) != nil {
        throw UpstreamError(
          .protocol,
          "\(redirect) requires the content again, which cannot be read again: \(obstacle); -T FILE sends a "
            + "file, --redirects 0 shows the redirect")
      }
      throw UpstreamError(.protocol, "\(redirect) cannot be followed; --redirects 0 shows it")
    default: break
    }
  }

  /// Whether a 206 has only requested octets, or all. Several ranges and other units are not compared.
  private func isRequested(_ head: HTTPResponse) -> Bool {
    let part = PartialContent.part(of: head)
    guard let requested = request.headerFields[.range] else {
      return part.map { $0.range.lowerBound == 0 && $0.range.upperBound == $0.length } ?? false
    }
    guard let part, requested.hasPrefix("bytes="), !requested.contains(",") else { return true }
    let bounds = requested.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return true }
    guard let first = Int64(bounds[0]) else {
      return Int64(bounds[1]).flatMap { count in part.length.map { part.range.lowerBound >= $0 - count } }
        ?? true
    }
    return part.range.lowerBound >= first && Int64(bounds[1]).map { part.range.upperBound - 1 <= $0 } ?? true
  }
}
