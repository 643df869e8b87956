import HTTPCaching
import HTTPTypes

/// The cookies of a session, which the cache must see in the request: `Vary` may name them.
struct SessionCookies: Sendable {
  private let storage: HTTPCookieStorage
  private let sends: Bool
  private let accepts: Bool

  /// Nil if the configuration has no cookie storage.
  init?(_ configuration: URLSessionConfiguration) {
    guard let storage = configuration.httpCookieStorage else { return nil }
    self.storage = storage
    sends = configuration.httpShouldSetCookies
    accepts = configuration.httpCookieAcceptPolicy != .never
  }

  /// The value of `Cookie` for a URL; nil for none.
  func field(for url: URL) -> String? {
    guard sends, let cookies = storage.cookies(for: url), !cookies.isEmpty else { return nil }
    return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
  }

  /// Stores the cookies that the fields of a response set.
  ///
  /// - Parameter url: the URL that was requested; it is asked for only if there are cookies.
  func store(_ fields: HTTPFields, from url: @autoclosure () -> URL?) {
    guard accepts, fields.contains(.setCookie), let url = url() else { return }
    for field in fields where field.name == .setCookie {
      let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field.text], for: url)
      storage.setCookies(cookies, for: url, mainDocumentURL: nil)
    }
  }
}
