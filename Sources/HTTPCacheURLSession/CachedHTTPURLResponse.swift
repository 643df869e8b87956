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
  /// How its content compares with what was stored for the request before.
  public let contentChange: ContentChange
  /// What a `StoringHook` kept with the stored response that answered; empty without.
  public let userInfo: [UInt8]
  /// When the stored response that answered came from the origin, or was last confirmed by it; nil for
  /// an answer straight from the origin.
  public let storedAt: Date?

  /// The response for a URL; nil if Foundation refuses it.
  package convenience init?(_ response: CacheResponse, url: URL) {
    self.init(response, url: url, fields: response.head.headerFields.dictionary)
  }

  /// The same with other fields.
  init?(_ response: CacheResponse, url: URL, fields: [String: String]) {
    outcome = response.outcome
    redirects = response.redirects
    contentChange = response.contentChange
    userInfo = response.userInfo
    storedAt = response.storedAt.map { Date(timeIntervalSince1970: TimeInterval($0.seconds)) }
    super.init(
      url: url, statusCode: response.head.status.code, httpVersion: "HTTP/1.1", headerFields: fields)
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
    contentChange = .unknown
    userInfo = []
    storedAt = nil
    super.init(coder: coder)
  }

  /// The response itself, which never changes.
  public override func copy(with zone: NSZone? = nil) -> Any { self }
}
