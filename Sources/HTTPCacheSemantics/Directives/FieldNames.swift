public import HTTPTypes

/// Field names that HTTPTypes does not define.
package enum FieldNames {
  static let cacheGroupInvalidation = name("Cache-Group-Invalidation")
  static let cacheGroups = name("Cache-Groups")
  static let cacheStatus = name("Cache-Status")
  static let clearSiteData = name("Clear-Site-Data")
  package static let contentDigest = name("Content-Digest")
  package static let contentMD5 = name("Content-MD5")
  static let destination = name("Destination")
  package static let host = name("Host")
  static let http2Settings = name("HTTP2-Settings")
  static let keepAlive = name("Keep-Alive")
  package static let noVarySearch = name("No-Vary-Search")
  package static let pragma = name("Pragma")
  static let proxyConnection = name("Proxy-Connection")
  package static let reprDigest = name("Repr-Digest")

  private static func name(_ constant: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(constant) else {
      preconditionFailure("\(constant) is a constant of this file and a valid name")
    }
    return name
  }
}

extension HTTPField.Name {
  /// `Cache-Groups`: the groups of its origin's responses that a response belongs to, a list of strings
  /// (RFC 9875 §2).
  public static var cacheGroups: HTTPField.Name { FieldNames.cacheGroups }

  /// `Cache-Group-Invalidation`: the groups that the response to an unsafe request invalidates, a list of strings
  /// (RFC 9875 §3).
  public static var cacheGroupInvalidation: HTTPField.Name { FieldNames.cacheGroupInvalidation }
}
