public import HTTPCaching
import HTTPTypes

/// An `HTTPURLResponse` that also tells where it came from.
///
/// Archiving keeps only the properties of `HTTPURLResponse`.
public final class CachedHTTPURLResponse: HTTPURLResponse, @unchecked Sendable {
  // @unchecked Sendable because all its properties are constant, as in its superclass.

  /// Where the response came from, and why; nil after archiving.
  public let outcome: CacheOutcome?
  /// The outcomes of the redirects that were followed, first to last.
  public let redirects: [CacheOutcome]
  /// How the content compares with the response stored for the request before.
  public let contentChange: ContentChange
  /// The bytes that a `StoringHook` kept with the stored response; empty without a hook.
  public let userInfo: [UInt8]
  /// When the stored response was received from the origin or last confirmed by it; nil for an answer from the
  /// origin.
  public let storedAt: Date?

  /// The response for a URL; nil if Foundation refuses it.
  ///
  /// - Parameter fields: nil are the fields of the response.
  package init?(_ response: CacheResponse, url: URL, fields: [String: String]? = nil) {
    outcome = response.outcome
    redirects = response.redirects
    contentChange = response.contentChange
    userInfo = response.userInfo
    storedAt = response.storedAt.map { Date(timeIntervalSince1970: TimeInterval($0.seconds)) }
    super.init(
      url: url, statusCode: response.head.status.code, httpVersion: "HTTP/1.1",
      headerFields: fields ?? response.head.headerFields.dictionary)
  }

  /// The response to a request for `url`, with the URL of the last redirect.
  ///
  /// - Throws: `URLError` if Foundation refuses the response.
  static func made(of response: CacheResponse, to url: URL) throws -> CachedHTTPURLResponse {
    let final = response.redirects.isEmpty ? url : URL(string: response.finalTarget) ?? url
    guard let made = CachedHTTPURLResponse(response, url: final) else {
      throw URLError.make(.badServerResponse, "no response for Foundation", url: url)
    }
    return made
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

extension URLResponse {
  /// Where the response came from, and why; nil if it did not come through a cache of this package.
  public var cacheOutcome: CacheOutcome? { (self as? CachedHTTPURLResponse)?.outcome }

  /// The outcomes of the redirects that were followed on the way, first to last.
  public var cacheRedirects: [CacheOutcome] { (self as? CachedHTTPURLResponse)?.redirects ?? [] }

  /// How the content compares with the response stored for the request before; `.unknown` for responses that
  /// did not come through a cache.
  public var cacheContentChange: ContentChange {
    (self as? CachedHTTPURLResponse)?.contentChange ?? .unknown
  }

  /// When the stored response was received from the origin or last confirmed by it; nil for an answer from
  /// the origin.
  public var cacheStoredAt: Date? { (self as? CachedHTTPURLResponse)?.storedAt }
}
