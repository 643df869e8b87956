import HTTPCacheSemantics
import HTTPTypes

/// Messages as browsers and well-known kinds of sites send them.
enum Samples {
  static let now = Timestamp(seconds: 1_604_664_000)

  /// The requests of a browser for a page, an asset and an API.
  static let requestFields: [HTTPFields] = [
    [
      .userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0",
      .accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      .acceptLanguage: "en-GB,en;q=0.9,de;q=0.5", .acceptEncoding: "gzip, deflate, br",
      .cookie: "session=0123456789abcdef; consent=yes; theme=dark",
    ],
    [
      .userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0",
      .accept: "image/webp,image/avif,image/png,*/*;q=0.8", .acceptEncoding: "gzip, deflate, br",
      .acceptLanguage: "en-GB,en;q=0.9", .referer: "https://www.example.com/news/2020/11/06/article",
    ],
    [
      .userAgent: "App/4.2 CFNetwork/1490 Darwin/23.6.0", .accept: "application/json",
      .acceptEncoding: "gzip, deflate, br", .acceptLanguage: "en-GB,en;q=0.9",
    ],
  ]

  /// Heads of a news page, an asset of a build, an image of a content network, an API, a font, a feed,
  /// an answer that must be validated, and a page that is not to be stored.
  static let responseFields: [HTTPFields] = [
    common([
      .contentType: "text/html; charset=utf-8",
      .cacheControl: "public, max-age=60, stale-while-revalidate=30",
      .vary: "Accept-Encoding", .eTag: "W/\"5fa53b40-1a2b3\"", .contentEncoding: "br",
    ]),
    common([
      .contentType: "text/javascript", .cacheControl: "public, max-age=31536000, immutable",
      .eTag: "\"5fa53b40-8c1d\"", .vary: "Accept-Encoding", .contentEncoding: "gzip",
      .lastModified: "Tue, 03 Nov 2020 09:12:44 GMT",
    ]),
    common([
      .contentType: "image/webp", .cacheControl: "max-age=2592000", .vary: "Accept", .age: "86211",
      .lastModified: "Mon, 05 Oct 2020 18:00:01 GMT",
    ]),
    common([
      .contentType: "application/json", .cacheControl: "private, max-age=30", .eTag: "\"e3b0c44298fc1c14\"",
      .vary: "Accept-Encoding, Accept-Language",
    ]),
    common([
      .contentType: "font/woff2", .cacheControl: "public, max-age=31536000",
      .lastModified: "Wed, 01 Apr 2020 12:00:00 GMT", .accessControlAllowOrigin: "*",
    ]),
    common([
      .contentType: "application/rss+xml", .expires: "Fri, 06 Nov 2020 12:15:00 GMT",
      .lastModified: "Fri, 06 Nov 2020 11:45:00 GMT",
    ]),
    common([
      .contentType: "text/html", .cacheControl: "no-cache, must-revalidate", .eTag: "\"abc\"",
    ]),
    common([
      .contentType: "text/html", .cacheControl: "private, no-store, max-age=0", .setCookie: "a=b; Path=/",
      .pragma: "no-cache",
    ]),
  ]

  static func request(_ index: Int, adding fields: HTTPFields = [:], path: String? = nil) -> HTTPRequest {
    var all = requestFields[index % requestFields.count]
    for field in fields { all[fields: field.name] = [field] }
    return HTTPRequest(
      method: .get, scheme: "https", authority: "www.example.com",
      path: path ?? "/news/2020/11/06/article-\(index)?page=1&size=20", headerFields: all)
  }

  static func response(_ index: Int) -> HTTPResponse {
    HTTPResponse(status: .ok, headerFields: responseFields[index % responseFields.count])
  }

  /// The record for a request; nil if its response must not be stored.
  static func stored(_ request: HTTPRequest, _ response: HTTPResponse, rules: CacheRules) -> StoredResponse? {
    try? StoredResponse.make(
      request: request, response: ReceivedResponse(response, requestTime: now, responseTime: now),
      isDecoded: false, rules: rules, digest: { Array($0.utf8) })
  }

  private static func common(_ fields: HTTPFields) -> HTTPFields {
    var all: HTTPFields = [
      .date: "Fri, 06 Nov 2020 12:00:00 GMT", .server: "nginx", .contentLength: "20480",
      .strictTransportSecurity: "max-age=31536000; includeSubDomains", .acceptRanges: "bytes",
      .xContentTypeOptions: "nosniff",
    ]
    all.append(contentsOf: fields)
    return all
  }
}

extension HTTPField.Name {
  static let pragma = name("Pragma")

  private static func name(_ constant: String) -> HTTPField.Name { HTTPField.Name(constant) ?? .accept }
}
