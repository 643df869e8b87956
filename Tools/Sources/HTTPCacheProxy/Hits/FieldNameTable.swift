import HTTPTypes

/// Meaning of the fields of a request for a plain request, by their names.
enum FieldNameTable {
  /// Whether requests that differ in a field that `Vary` names have different keys.
  static func isKeyed(_ name: HTTPField.Name) -> Bool {
    var canonical = name.canonicalName
    switch canonical.withUTF8({ field(UnsafeRawBufferPointer($0)) }) {
    case .accept, .acceptEncoding, .acceptLanguage, .origin: return true
    // The proxy sets such fields by the client.
    case .other: return !name.tellsOfClient
    case .ignored, .connection, .client, .host, .cookie: return false
    }
  }

  /// The kind of a field.
  static func field(_ name: UnsafeRawBufferPointer) -> PlainRequest.Field {
    guard name.count < known.count else { return other(name) }
    for (text, field) in known[name.count] where isEqual(name, text) { return field }
    return other(name)
  }

  /// A field that is not in the table: conditions, ranges, directives, credentials, what concerns the message or the
  /// connection, and all that are not known. The slow path's code decides what its name means and whether it is allowed.
  private static func other(_ name: UnsafeRawBufferPointer) -> PlainRequest.Field {
    let tellsOfClient =
      name.count > 12 && isEqual(UnsafeRawBufferPointer(rebasing: name[..<12]), "x-forwarded-")
    return tellsOfClient ? .client : .other
  }

  /// The names of the table, by their length.
  private static let known: [[(StaticString, PlainRequest.Field)]] = {
    var known: [[(StaticString, PlainRequest.Field)]] = Array(repeating: [], count: 26)
    func add(_ names: StaticString..., as field: PlainRequest.Field) {
      for name in names { known[name.utf8CodeUnitCount].append((name, field)) }
    }
    add("host", as: .host)
    add("accept", as: .accept)
    add("accept-encoding", as: .acceptEncoding)
    add("accept-language", as: .acceptLanguage)
    add("origin", as: .origin)
    add("connection", as: .connection)
    add("cookie", as: .cookie)
    add("referer", "user-agent", "priority", "dnt", "save-data", as: .ignored)
    add("sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-gpc", as: .ignored)
    add("sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "sec-fetch-user", as: .ignored)
    add("upgrade-insecure-requests", "x-requested-with", as: .ignored)
    add(
      "b3", "baggage", "traceparent", "tracestate", "x-amzn-trace-id", "x-cloud-trace-context", as: .ignored)
    add("x-request-id", "x-correlation-id", as: .ignored)
    // They tell the origin alone of the client.
    add("x-forwarded-for", "x-real-ip", as: .ignored)
    add("forwarded", "x-forwarded", as: .client)
    // They have no effect on HTTP/1.1, and are not passed on.
    add("keep-alive", "proxy-connection", as: .ignored)
    return known
  }()

  /// Whether octets without control characters are `text`, ignoring case.
  ///
  /// - Parameter text: lower-case letters, digits, spaces and hyphens.
  static func isEqual(_ octets: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard octets.count == text.utf8CodeUnitCount else { return false }
    // Only control characters and upper-case letters become such a character with this bit; it is set in the others.
    for index in 0..<octets.count where octets[index] | 0x20 != text.utf8Start[index] { return false }
    return true
  }
}
