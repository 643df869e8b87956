import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes

/// Fields that concern one connection only (RFC 9110 §7.6.1).
enum HopByHop {
  private static let names: Set<String> = [
    "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authorization", "proxy-authentication-info", "http2-settings",
  ]
  /// Fields for framing, routing and the meaning of a message, which are never accepted in trailers
  /// (RFC 9110 §6.5.1).
  private static let notInTrailers: Set<String> = names.union([
    "content-length", "host", "trailer", "content-encoding", "content-type", "content-range",
    "cache-control", "authorization", "set-cookie", "age", "expires", "date", "location", "vary",
    "max-forwards", "via", "cookie", "expect", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "pragma", "range", "www-authenticate",
  ])

  /// Removes these fields and those that `Connection` names, except for names that `Connection` must not list
  /// (`FieldHygiene.isConnectionOption`).
  ///
  /// - Parameter other: a name in lower case, whose fields are removed too.
  static func remove(from fields: inout HTTPFields, and other: String? = nil) {
    let named = connectionOptions(fields)
    fields.removeAll { field in
      let name = field.name.canonicalName
      return name == other || names.contains(name) || named.contains(name)
    }
  }

  /// The names that `Connection` lists, in lower case, except for names that it must not list. These fields must be
  /// removed from trailers too (RFC 9110 §7.6.1).
  static func connectionOptions(_ fields: HTTPFields) -> [String] {
    fields[values: .connection].flatMap { FieldList.members($0) }.map { FieldList.lowercased($0) }
      .filter(FieldHygiene.isConnectionOption)
  }

  /// The trailers that may be forwarded.
  static func trailers(_ fields: HTTPFields) -> HTTPFields {
    if fields.isEmpty { return fields }
    var fields = fields
    fields.removeAll { notInTrailers.contains($0.name.canonicalName) }
    return fields
  }
}
