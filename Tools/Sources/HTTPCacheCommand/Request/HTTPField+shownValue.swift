import HTTPCaching

extension HTTPField {
  /// The value for messages and reports, without secrets; the scheme of an authorization is shown.
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
