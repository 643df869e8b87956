package import HTTPTypes

/// Parses, normalises and resolves target URIs (RFC 3986; RFC 9110 §4.2.3).
public enum TargetURI {
  /// The longest URI that is accepted, in octets.
  public static let lengthLimit = 65_536

  /// Normalises an absolute `http` or `https` URI, so that URIs that identify the same resource by
  /// RFC 9110 §4.2.3 become equal.
  ///
  /// Scheme and host become lower case, the default port is dropped, an empty path becomes `/`,
  /// percent-encoded triplets become upper case or, for unreserved characters, are decoded, and octets outside of
  /// ASCII become percent-encoded (RFC 3986 §6.2.2). Fragment and user information are dropped. The query keeps its
  /// order, an empty query its `?`.
  ///
  /// Dot segments stay: the origin gets them unchanged, and may answer them differently from the resolved path. Only a
  /// reference is resolved (`resolved(_:against:)`).
  ///
  /// - Returns: nil if it is not such a URI, has no host, contains control characters or spaces, or is longer
  ///   than `lengthLimit`.
  public static func normalized(_ uri: String) -> String? {
    var uri = uri
    return uri.withUTF8 { normalized($0) }
  }

  /// Normalises an absolute URI, and resolves its dot segments (RFC 3986 §5.2.4).
  public static func resolvingDotSegments(of uri: String) -> String? {
    var uri = uri
    return uri.withUTF8 { normalized($0, resolvesDotSegments: true) }
  }

  /// Resolves a reference, such as a `Location`, against an absolute URI (RFC 3986 §5.2), and
  /// normalises the result.
  ///
  /// - Returns: nil if either is malformed or the result is not an `http` or `https` URI.
  public static func resolved(_ reference: String, against base: String) -> String? {
    var reference = reference
    var base = base
    return reference.withUTF8 { reference in
      base.withUTF8 { base in resolved(reference, against: base) }
    }
  }

  /// The origin of an absolute URI (RFC 9110 §4.3.1), such as `https://example.com`, with the port
  /// if it is not the default one.
  public static func origin(of uri: String) -> String? {
    parts(of: uri).map { "\($0.scheme)://\($0.authority)" }
  }

  private static func normalized(_ octets: Octets, resolvesDotSegments: Bool = false) -> String? {
    guard octets.count <= lengthLimit, octets.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      return nil
    }
    let parts = URIParts(octets)
    guard let scheme = parts.scheme, let authority = parts.authority else { return nil }
    var output: [UInt8] = []
    output.reserveCapacity(octets.count + 1)
    let defaultPort: Int64
    if scheme.isCaseInsensitively("http") {
      output.append(contentsOf: "http://".utf8)
      defaultPort = 80
    } else if scheme.isCaseInsensitively("https") {
      output.append(contentsOf: "https://".utf8)
      defaultPort = 443
    } else {
      return nil
    }
    guard appendAuthority(authority, defaultPort: defaultPort, to: &output) else { return nil }
    if parts.path.isEmpty {
      output.append(UInt8(ascii: "/"))
    } else if resolvesDotSegments {
      appendResolved(parts.path, to: &output)
    } else {
      appendNormalized(parts.path, to: &output)
    }
    if let query = parts.query {
      output.append(UInt8(ascii: "?"))
      appendNormalized(query, to: &output)
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func resolved(_ reference: Octets, against base: Octets) -> String? {
    guard reference.count <= lengthLimit, base.count <= lengthLimit else { return nil }
    let relative = URIParts(reference)
    if relative.scheme != nil { return normalized(reference, resolvesDotSegments: true) }
    let absolute = URIParts(base)
    guard let scheme = absolute.scheme, let authority = absolute.authority else { return nil }
    var target: [UInt8] = []
    target.append(contentsOf: scheme)
    target.append(contentsOf: "://".utf8)
    target.append(contentsOf: relative.authority ?? authority)
    var query = relative.query
    if relative.authority != nil || relative.path.first == UInt8(ascii: "/") {
      target.append(contentsOf: relative.path)
    } else if relative.path.isEmpty {
      target.append(contentsOf: absolute.path)
      query = relative.query ?? absolute.query
    } else {
      if let slash = absolute.path.lastIndex(of: UInt8(ascii: "/")) {
        target.append(contentsOf: absolute.path[...slash])
      } else {
        target.append(UInt8(ascii: "/"))
      }
      target.append(contentsOf: relative.path)
    }
    if let query {
      target.append(UInt8(ascii: "?"))
      target.append(contentsOf: query)
    }
    return target.withUnsafeBufferPointer { normalized($0, resolvesDotSegments: true) }
  }
}

extension HTTPRequest {
  /// Whether a `Host` field names another authority than the target URI (RFC 9110 §7.2). Another site may then answer:
  /// the response must not be stored for the URI, and no stored response answers.
  package var namesOtherHost: Bool {
    headerFields.indices.contains { index in
      // Of most requests no field has to be copied.
      guard headerFields[index].name.canonicalName == "host" else { return false }
      let field = headerFields[index]
      guard field.value != authority else { return false }
      let (scheme, host) = (scheme ?? "http", authority ?? "")
      let own = TargetURI.parts(of: "\(scheme)://\(host)/")?.authority
      return own == nil || TargetURI.parts(of: "\(scheme)://\(field.value)/")?.authority != own
    }
  }
}
