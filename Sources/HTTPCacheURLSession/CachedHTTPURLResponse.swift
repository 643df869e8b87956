public import Foundation
public import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// An HTTP response that knows where it came from. Code that expects a `HTTPURLResponse` sees one.
///
/// Archiving keeps what a `HTTPURLResponse` has, and loses the rest.
public final class CachedHTTPURLResponse: HTTPURLResponse, @unchecked Sendable {
  // @unchecked Sendable because everything in it is constant; its superclass says the same of itself.

  /// Where the response came from, and why; nil in one that was archived.
  public let outcome: CacheOutcome?
  /// The outcomes of the redirects on the way, first to last.
  public let redirects: [CacheOutcome]

  /// The response for a URL; nil if Foundation refuses it.
  package init?(_ response: CacheResponse, url: URL) {
    outcome = response.outcome
    redirects = response.redirects
    super.init(
      url: url, statusCode: response.head.status.code, httpVersion: "HTTP/1.1",
      headerFields: response.head.headerFields.dictionary)
  }

  /// The response to a request, with the URL it came from; nil if Foundation refuses it.
  convenience init?(_ response: CacheResponse, to request: URLRequest) {
    let last = response.redirects.isEmpty ? request.url : URL(string: response.finalTarget)
    guard let url = last?.absoluteURL else { return nil }
    self.init(response, url: url)
  }

  /// Reads an archived response.
  public required init?(coder: NSCoder) {
    outcome = nil
    redirects = []
    super.init(coder: coder)
  }

  /// The response itself, which never changes.
  public override func copy(with zone: NSZone? = nil) -> Any { self }
}
