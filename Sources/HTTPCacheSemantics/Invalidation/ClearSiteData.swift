public import HTTPTypes

/// Responses that tell to clear what is kept of their origin (W3C Clear Site Data).
public enum ClearSiteData {
  /// The most members of the field that are looked at.
  public static let memberLimit = 64

  /// Whether a response tells this cache to remove what it has stored of the response's origin.
  ///
  /// Only over `https`: the field counts on secure origins alone. Only in a private cache: the field
  /// speaks of one user's data, and in a shared cache it would let any response to anybody empty the
  /// cache for everybody.
  ///
  /// - Parameters:
  ///   - response: the head as it arrived.
  ///   - target: the normalised target URI.
  ///   - rules: the choices of the cache.
  public static func clearsCache(_ response: HTTPResponse, target: String, rules: CacheRules) -> Bool {
    guard rules.obeysClearSiteData, rules.mode == .private, target.utf8.starts(with: "https://".utf8),
      response.headerFields.contains(FieldNames.clearSiteData)
    else { return false }
    var count = 0
    var isNamed = false
    response.headerFields.forEachMember(of: FieldNames.clearSiteData) { member in
      count += 1
      guard count <= memberLimit else { return }
      // Quoted strings, compared as they are: types are case-sensitive.
      if member.text == "\"cache\"" || member.text == "\"*\"" { isNamed = true }
    }
    return isNamed
  }
}
