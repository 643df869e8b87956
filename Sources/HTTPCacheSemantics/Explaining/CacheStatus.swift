package import HTTPTypes

/// One member of `Cache-Status`: how a cache handled a request (RFC 9211 §2).
package struct CacheStatus: Sendable, Hashable {
  /// Why a request went forward (§2.2).
  package enum Forward: String, Sendable, Hashable, CaseIterable {
    /// The cache was told not to handle the request.
    case bypass
    /// The method requires it.
    case method
    /// Nothing is stored for the URI.
    case uriMiss = "uri-miss"
    /// Responses are stored for the URI, but for other values of this request's fields.
    case varyMiss = "vary-miss"
    /// Nothing usable is stored.
    case miss
    /// A fresh response is stored, but the request does not allow its use.
    case request
    /// The stored response was stale.
    case stale
    /// The stored response is only a part of what the request asks for.
    case partial
  }

  /// The name of the cache.
  package var name: String
  /// Whether the answer came from the store without going forward (§2.1).
  package var hit = false
  /// Why the request went forward (§2.2).
  package var fwd: Forward?
  /// The status of the next hop's answer (§2.3).
  package var fwdStatus: Int?
  /// The remaining lifetime in seconds, negative for a stale response (§2.4).
  package var ttl: Int64?
  /// Whether the response was stored (§2.5).
  package var stored: Bool?
  /// Whether the request was collapsed with others, and used their response (§2.6).
  package var collapsed: Bool?
  /// The cache key (§2.7).
  package var key: String?
  /// Further details (§2.8).
  package var detail: String?
}

extension CacheStatus {
  /// The member as text of the field (RFC 9211 §2, RFC 9651 §4.1).
  ///
  /// Name and detail are tokens if possible. Characters that a string of a structured field cannot contain are
  /// percent-encoded.
  package var fieldValue: String {
    var value = Self.tokenOrString(name)
    // Each answer has one: interpolation would make a text for each part.
    func add(_ parameter: String, _ text: String) {
      value += parameter
      value += text
    }
    value.reserveCapacity(96)
    if hit { value += "; hit" }
    if let fwd { add("; fwd=", fwd.rawValue) }
    if let fwdStatus { add("; fwd-status=", String(Self.bounded(Int64(fwdStatus)))) }
    if let ttl { add("; ttl=", String(Self.bounded(ttl))) }
    if let stored { value += stored ? "; stored" : "; stored=?0" }
    if let collapsed { value += collapsed ? "; collapsed" : "; collapsed=?0" }
    if let key { add("; key=", Self.string(key)) }
    if let detail { add("; detail=", Self.tokenOrString(detail)) }
    return value
  }

  /// Adds a member after those of the caches closer to the origin (RFC 9211 §2).
  package static func appended(_ status: CacheStatus, to fields: inout HTTPFields) {
    // bounded: each cache on the way adds one.
    fields.append(HTTPField(name: FieldNames.cacheStatus, value: status.fieldValue))
  }

  private static func bounded(_ number: Int64) -> Int64 {
    min(max(number, -greatestDeltaSeconds), greatestDeltaSeconds)
  }

  private static func tokenOrString(_ text: String) -> String {
    isToken(text) ? text : string(text)
  }

  /// Whether it is a Token (RFC 9651 §3.3.4).
  private static func isToken(_ text: String) -> Bool {
    guard let first = text.utf8.first, first.isLetter || first == UInt8(ascii: "*") else {
      return false
    }
    return text.utf8.allSatisfy {
      $0.isTokenOctet || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/")
    }
  }

  private static func string(_ text: String) -> String {
    var output: [UInt8] = [UInt8(ascii: "\"")]
    for octet in text.utf8 {
      switch octet {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        output.append(UInt8(ascii: "\\"))
        output.append(octet)
      case 0x20...0x7E: output.append(octet)
      default: TargetURI.appendEncoded(octet, to: &output)
      }
    }
    output.append(UInt8(ascii: "\""))
    return String(decoding: output, as: UTF8.self)
  }
}

extension CacheStatus {
  /// A cache key for the `key` parameter (RFC 9211 §2.7): the target, preceded by the method for QUERY,
  /// followed by a digest of its content. The partition is left out because it may name an account.
  package static func key(_ key: CacheKey) -> String {
    switch key.methodClass {
    case .get, .searchRule, .pointer: key.target
    case .query: "QUERY " + key.target + " " + key.contentDigest.map(hex).joined()
    }
  }

  private static func hex(_ octet: UInt8) -> String {
    let digits = String(octet, radix: 16)
    return octet < 16 ? "0" + digits : digits
  }
}

extension CacheStatus {
  /// Describes how a request was answered (RFC 9211 §2).
  ///
  /// - Parameters:
  ///   - outcome: where the answer came from.
  ///   - name: the name of the cache.
  package init(outcome: CacheOutcome, name: String) {
    self.init(name: name)
    switch outcome {
    case .hit(let age, let lifetime, let allowance):
      hit = true
      ttl = (lifetime - age).wholeSeconds
      detail = allowance?.token
    case .validated(let reason, let age, let lifetime):
      fwd = Self.forward(reason)
      fwdStatus = 304
      ttl = (lifetime - age).wholeSeconds
    case .forwarded(let reason, let status, let storage, let isCollapsed):
      fwd = Self.forward(reason)
      fwdStatus = status
      switch storage {
      case .store: stored = true
      case .doNotStore(let refusal): detail = refusal.token
      }
      if isCollapsed { collapsed = true }
    case .shared(let reason, let age, let lifetime):
      fwd = Self.forward(reason)
      ttl = (lifetime - age).wholeSeconds
    case .unsatisfiable:
      detail = "unsatisfiable"
    }
  }

  private static func forward(_ reason: ForwardReason) -> Forward {
    switch reason {
    case .validation(let reason): forward(reason)
    case .miss(.absent): .uriMiss
    case .miss(.variantMismatch): .varyMiss
    case .miss(.method): .method
    case .miss(.policy(.bypass)), .miss(.content): .bypass
    case .miss(.policy), .miss(.precondition): .request
    case .miss(.partial): .partial
    case .miss(.storeFailed): .miss
    }
  }

  private static func forward(_ reason: ValidationReason) -> Forward {
    switch reason {
    case .stale, .responseNoCache, .invalidated: .stale
    case .variantMismatch: .varyMiss
    case .requestNoCache, .pragmaNoCache, .requestMaxAge, .requestMinFresh, .guessWithCredentials, .policy:
      .request
    }
  }
}
