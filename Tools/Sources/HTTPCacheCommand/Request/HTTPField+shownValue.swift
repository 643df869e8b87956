import HTTPCaching

extension HTTPField {
  /// The value as messages and reports show it, without what is secret; the scheme of an authorization is not.
  var shownValue: String {
    switch name.canonicalName {
    case "authorization", "proxy-authorization":
      let parts = value.split(separator: " ", maxSplits: 1)
      return parts.count == 2 ? "\(parts[0]) …" : "…"
    case "cookie", "set-cookie": return "…"
    case let name where ["token", "api-key", "apikey", "secret", "password"].contains(where: name.contains):
      return "…"
    default: return value
    }
  }
}
