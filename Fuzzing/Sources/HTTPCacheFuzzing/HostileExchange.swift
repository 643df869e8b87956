import HTTPCacheSemantics
import HTTPTypes

/// One input of the rules: an exchange that is stored, a newer response to it, and another request.
///
/// Its text form is that of the corpus: a line of options, then the request, the response, the newer
/// response and the other request, each a start line and field lines, with an empty line between.
public struct HostileExchange: Sendable {
  var rules = CacheRules()
  var policy = CachePolicy.standard
  var isDecoded = false
  /// The times of the request, the response, the validation and now; and the body's length.
  var times = [Timestamp](repeating: Timestamp(seconds: 1_604_664_000), count: 3)
  var length: Int64 = 100
  var request = HTTPRequest(method: .get, scheme: "https", authority: "a.b", path: "/")
  var response = HTTPResponse(status: .ok)
  var newer = HTTPResponse(status: .notModified)
  var other = HTTPRequest(method: .get, scheme: "https", authority: "a.b", path: "/")

  /// Makes a harmless exchange.
  public init() {}

  static let policies: [CachePolicy] = [
    .standard, .revalidate, .cacheElseNetwork, .cacheOnly, .networkElseCache(maxStale: .seconds(5)), .reload,
    .reloadEverywhere, .bypass,
  ]
}
