import ArgumentParser
import HTTPCacheSemantics
import HTTPCaching

/// The responses that a purge of the admin listener names by URLs of the origin or of clients.
struct PurgeQuery {
  let query: AdminQuery
  /// Where the server sends requests, and by which rules it stores.
  let served: ServedDirectory

  /// - Throws: `ValidationError` for parameters that name no responses.
  func selections() throws -> [CacheSelection] {
    let servers = DirectoryServers([served])
    var selections: [[CacheSelection]] = []
    if let url = query["url"] {
      let url = try TargetURL(parsing: try Self.absolute(url, "url"))
      selections.append((url.targets + served.placeTargets(of: url)).map { .target($0) })
    }
    if let prefix = query["prefix"] {
      guard !prefix.isEmpty else {
        throw ValidationError("an empty prefix matches all responses: use all")
      }
      selections.append(try servers.selections(ofPrefix: try Self.absolute(prefix, "prefix")))
    }
    if let group = try query.nonempty("group") {
      guard group.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        throw ValidationError(
          "group must have visible ASCII characters and spaces alone, as names of groups do (RFC 9875 §2)")
      }
      let given = try Self.absolute(try query.required("origin"), "origin")
      guard let origin = TargetURI.origin(of: given) else {
        throw ValidationError(
          "origin must be a URL such as https://example.com (got '\(given.prefix(80))')")
      }
      selections.append(try servers.selections(ofGroup: group, origin: TargetURL(parsing: origin)))
    }
    if try query.isSet("all") { selections.append([.all]) }
    guard selections.count == 1, let selection = selections.first else {
      throw ValidationError("give one of: url, prefix, group with origin, all")
    }
    return selection
  }

  /// Refuses a text that no stored URL begins with, so that a purge that can match nothing does not look done.
  private static func absolute(_ text: String, _ name: String) throws(ValidationError) -> String {
    let start = text.lowercased()
    guard start.hasPrefix("http://") || start.hasPrefix("https://") else {
      throw ValidationError("\(name) must begin with http:// or https:// (got '\(text.prefix(80))')")
    }
    return text
  }
}
