import HTTPCaching
import HTTPTypes

/// Fields that concern one connection only (RFC 9110 §7.6.1).
enum HopByHop {
  private static let names: Set<String> = [
    "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authorization", "proxy-authentication-info", "http2-settings",
  ]
  /// What a message's framing, routing and meaning hang on is never taken from trailers
  /// (RFC 9110 §6.5.1).
  private static let notInTrailers: Set<String> = names.union([
    "content-length", "host", "trailer", "content-encoding", "content-type", "content-range",
    "cache-control", "authorization", "set-cookie", "age", "expires", "date", "location", "vary",
    "max-forwards", "via",
  ])

  /// Takes them out, with those that `Connection` names, save for what it must not name
  /// (`FieldHygiene.isConnectionOption`).
  static func remove(from fields: inout HTTPFields) {
    let named = fields[values: .connection].flatMap { FieldList.members($0) }.map { FieldList.lowercased($0) }
      .filter(FieldHygiene.isConnectionOption)
    fields.removeAll { field in
      names.contains(field.name.canonicalName) || named.contains(field.name.canonicalName)
    }
  }

  /// The trailers that may be passed on.
  static func trailers(_ fields: HTTPFields) -> HTTPFields {
    if fields.isEmpty { return fields }
    var fields = fields
    fields.removeAll { notInTrailers.contains($0.name.canonicalName) }
    return fields
  }
}
