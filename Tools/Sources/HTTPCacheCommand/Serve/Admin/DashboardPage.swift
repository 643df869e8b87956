import HTTPCacheProxy

/// The page that shows what a server does. It has no data: its script asks for them, with the token if there is one.
enum DashboardPage {
  /// The paths of the page and its parts.
  static let paths: Set<String> = ["/", "/dashboard.css", "/dashboard.js"]

  /// The page, or a part of it; nil for other paths.
  static func response(_ path: String) -> AdminResponse? {
    let (type, bytes): (String, [UInt8])
    switch path {
    case "/": (type, bytes) = ("text/html", PackageResources.dashboard_html)
    case "/dashboard.css": (type, bytes) = ("text/css", PackageResources.dashboard_css)
    case "/dashboard.js": (type, bytes) = ("text/javascript", PackageResources.dashboard_js)
    default: return nil
    }
    var response = AdminResponse(
      contentType: "\(type); charset=utf-8", body: String(decoding: bytes, as: UTF8.self))
    // Nothing from elsewhere, in no frame, and no script but its own: entries have URLs that strangers chose.
    response.contentSecurityPolicy =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return response
  }
}
