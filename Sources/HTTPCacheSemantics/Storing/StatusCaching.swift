package import HTTPTypes

/// The caching rules of status codes.
enum StatusCaching {
  /// Whether responses may be stored, and be fresh, without an explicit lifetime (RFC 9110 §15.1).
  static func isHeuristicallyCacheable(_ code: Int) -> Bool {
    switch code {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Whether this cache implements all that the definition says about caching (RFC 9111 §3).
  static func isUnderstood(_ code: Int) -> Bool {
    switch code {
    case 200...206, 300...303, 305, 307, 308, 400...411, 413...415, 417, 421, 422, 426, 500...505:
      true
    default: false
    }
  }

  /// Whether a field of the request may have caused the status: a client error (RFC 9110 §15.5), except 404 and 410,
  /// which are about the target, or 501, which is about the method (§15.6.2).
  static func mayComeFromFields(_ code: Int) -> Bool {
    switch code {
    case 404, 410: false
    case 400..<500, 501: true
    default: false
    }
  }

  /// Whether responses with this status are never stored.
  ///
  /// 304 updates stored responses (RFC 9111 §4.3.4). 412 and 416 answer conditions and ranges, which are not
  /// part of the key. The definitions of 428, 429, 431 and 511 forbid it (RFC 6585 §3 to §6).
  static func isNeverStored(_ code: Int) -> Bool {
    switch code {
    case 304, 412, 416, 428, 429, 431, 511: true
    default: false
    }
  }
}

extension HTTPResponse.Status {
  /// Whether a client may follow the `Location` of the response (RFC 9110 §15.4).
  package var isRedirect: Bool {
    switch code {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }
}
