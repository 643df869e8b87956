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

  /// Stores the cookies that the response to a request sets.
  func store(_ response: HTTPResponse, of request: HTTPRequest) {
    guard accepts, response.headerFields.contains(.setCookie),
      let url = (try? URLRequest(request))?.url
    else { return }
    for field in response.headerFields where field.name == .setCookie {
      let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field.text], for: url)
      storage.setCookies(cookies, for: url, mainDocumentURL: nil)
    }
  }

  /// Stores the cookies that a response sets.
  func store(_ response: HTTPURLResponse) {
    guard accepts, let url = response.url,
      let fields = response.allHeaderFields as? [String: String],
      fields.keys.contains(where: { $0.lowercased() == "set-cookie" })
    else { return }
    let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
    storage.setCookies(cookies, for: url, mainDocumentURL: nil)
  }
}
