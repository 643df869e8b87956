package import HTTPTypes

/// Responses that ask to clear what is stored of their origin (W3C Clear Site Data).
package enum ClearSiteData {
  /// The maximum number of members of the field that are read.
  package static let memberLimit = 64

  /// Whether a response asks this cache to remove what it has stored of the response's origin.
  ///
  /// Only over `https`: the field is valid on secure origins only. Only in a private cache: the field is
  /// about one user's data; in a shared cache, any response to any user could empty the cache for all users.
  ///
  /// - Parameters:
  ///   - response: the head as it arrived.
  ///   - target: the normalised target URI.
  ///   - rules: the choices of the cache.
  package static func clearsCache(_ response: HTTPResponse, target: String, rules: CacheRules) -> Bool {
    guard rules.obeysClearSiteData, rules.mode == .private,
      response.headerFields.firstIndex(of: FieldNames.clearSiteData) != nil,
      target.utf8.starts(with: "https://".utf8)
    else { return false }
    var count = 0
    var isNamed = false
    response.headerFields.forEachMember(of: FieldNames.clearSiteData) { member in
      count += 1
      guard count <= memberLimit else { return }
      // Quoted strings, compared exactly: types are case-sensitive.
      if member.text == "\"cache\"" || member.text == "\"*\"" { isNamed = true }
    }
    return isNamed
  }
}
