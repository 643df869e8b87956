public import HTTPTypes

/// The key of a stored response: partition, method class and normalised target (RFC 9111 §2).
public struct CacheKey: Sendable, Hashable {
  /// Methods whose responses answer each other's requests.
  public enum MethodClass: UInt8, Sendable, Hashable, CaseIterable {
    /// GET and HEAD (RFC 9110 §9.3.1, §9.3.2).
    case get = 0
    /// QUERY, with its content in the key (RFC 10008).
    case query = 1
    /// Not for a response, but for the rule that makes the keys of a path's queries
    /// (draft-ietf-httpbis-no-vary-search §7).
    case searchRule = 2
    /// Not for a response, but for the name of the cache item that holds the target's response (`CacheAlias`).
    case pointer = 3
  }

  /// The mode. Private and shared entries are invisible to each other.
  public let mode: CacheMode
  /// Separates accounts or sites (RFC 9111 §7.2); empty for responses that all callers share.
  public let partition: String
  /// Methods whose responses answer each other's requests.
  public let methodClass: MethodClass
  /// The normalised target URI, without fragment and user information.
  public let target: String
  /// For QUERY, a digest of content and metadata; else empty.
  public let contentDigest: [UInt8]
  /// A hash of these properties under a secret of this process, so that a client cannot choose targets with
  /// equal hashes. Only valid in this process: a store that several processes share uses `hash(under:)`.
  package let processHash: UInt64

  /// Makes a key from parts; `target` must be normalised already (`TargetURI.normalized`).
  public init(
    mode: CacheMode, partition: String = "", methodClass: MethodClass = .get, target: String,
    contentDigest: [UInt8] = []
  ) {
    self.mode = mode
    self.partition = partition
    self.methodClass = methodClass
    self.target = target
    self.contentDigest = contentDigest
    processHash = Self.hash(
      mode: mode, partition: partition, methodClass: methodClass, target: target,
      contentDigest: contentDigest, under: Self.processSecret)
  }

  /// This key with a digest of content and metadata.
  public func with(contentDigest: [UInt8]) -> CacheKey {
    CacheKey(
      mode: mode, partition: partition, methodClass: methodClass, target: target,
      contentDigest: contentDigest)
  }

  /// This key with another target, which must be normalised already.
  public func with(target: String) -> CacheKey {
    CacheKey(
      mode: mode, partition: partition, methodClass: methodClass, target: target,
      contentDigest: contentDigest)
  }

  /// The key of the rule that makes the keys of this path's queries.
  public var searchRule: CacheKey {
    CacheKey(
      mode: mode, partition: partition, methodClass: .searchRule,
      target: SearchVariance.path(of: target))
  }

  /// The key of the name of the cache item that holds this target's responses.
  public var pointer: CacheKey {
    CacheKey(mode: mode, partition: partition, methodClass: .pointer, target: target)
  }

  /// Compares the hash first.
  public static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
    lhs.processHash == rhs.processHash && lhs.target == rhs.target && lhs.mode == rhs.mode
      && lhs.methodClass == rhs.methodClass && lhs.partition == rhs.partition
      && lhs.contentDigest == rhs.contentDigest
  }

  /// Uses the hash computed before.
  public func hash(into hasher: inout Hasher) { hasher.combine(processHash) }
}

extension CacheKey {
  /// The normalised target URI of a request (RFC 9110 §7.1, §4.2.3). A request without a scheme gets `http`.
  public static func target(of request: HTTPRequest) -> String? {
    guard var authority = request.authority, var path = request.path else { return nil }
    let scheme = request.scheme ?? "http"
    let isSecure = scheme == "https"
    if isSecure || scheme == "http", authority.withUTF8({ isNormalAuthority($0, isSecure: isSecure) }),
      path.withUTF8({ isNormalPath($0) })
    {
      return joined(scheme: isSecure ? "https://" : "http://", authority: authority, path: path)
    }
    // The asterisk form targets the origin as a whole: an empty path (RFC 9110 §7.1).
    if path == "*" { path = "" }
    guard path.isEmpty || path.utf8.first == UInt8(ascii: "/") || path.utf8.first == UInt8(ascii: "?")
    else { return nil }
    // They would end the scheme or the authority (RFC 3986 §3.2): the key would be that of another target.
    let ends = "/?#\\".utf8
    guard ![scheme, authority].contains(where: { $0.utf8.contains { ends.contains($0) } }) else { return nil }
    return TargetURI.normalized(scheme + "://" + authority + path)
  }

  private static func joined(scheme: StaticString, authority: String, path: String) -> String {
    let first = scheme.utf8CodeUnitCount
    let second = first + authority.utf8.count
    return String(unsafeUninitializedCapacity: second + path.utf8.count) { buffer in
      for index in 0..<first { buffer[index] = scheme.utf8Start[index] }
      _ = UnsafeMutableBufferPointer(rebasing: buffer[first...]).update(fromContentsOf: authority.utf8)
      _ = UnsafeMutableBufferPointer(rebasing: buffer[second...]).update(fromContentsOf: path.utf8)
      return buffer.count
    }
  }

  /// A cheap test whether normalisation would leave the authority unchanged.
  private static func isNormalAuthority(_ octets: Octets, isSecure: Bool) -> Bool {
    var index = 0
    while index < octets.count, octets[index] != UInt8(ascii: ":") {
      let octet = octets[index]
      let isLower = octet &- 0x61 < 26
      guard isLower || octet.isDigit || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "-")
      else { return false }
      index += 1
    }
    guard index > 0, index <= 255 else { return false }
    if index == octets.count { return true }
    let port = octets.part((index + 1)..<octets.count)
    guard (1...5).contains(port.count), port[0] != UInt8(ascii: "0"), let number = port.decimal
    else { return false }
    return number <= 65_535 && number != (isSecure ? 443 : 80)
  }

  private static func isNormalPath(_ octets: Octets) -> Bool {
    guard octets.first == UInt8(ascii: "/"), octets.count < 8_192, let start = octets.baseAddress
    else { return false }
    // Checking all octets, eight at a time, is faster than stopping at the first.
    let bytes = UnsafeRawPointer(start)
    var changes: UInt64 = 0
    var index = 0
    while index + 8 <= octets.count {
      changes |= normalisationChanges(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    while index < octets.count {
      changes |= normalisationChanges(everyOctet &* UInt64(octets[index]))
      index += 1
    }
    return changes == 0
  }

  private static let everyOctet: UInt64 = 0x0101_0101_0101_0101

  /// Not 0 if normalisation might change one of eight octets of a path, or if one of them is not allowed.
  @inline(__always)
  private static func normalisationChanges(_ octets: UInt64) -> UInt64 {
    let isBelowVisible = (octets &- 0x2121_2121_2121_2121) & ~octets
    let isAboveVisible = (octets &+ everyOctet) | octets
    let percent = octets ^ 0x2525_2525_2525_2525
    let hash = octets ^ 0x2323_2323_2323_2323
    let isPercent = (percent &- everyOctet) & ~percent
    let isHash = (hash &- everyOctet) & ~hash
    return (isBelowVisible | isAboveVisible | isPercent | isHash) & 0x8080_8080_8080_8080
  }
}

extension CacheKey {
  /// The secret of this process, drawn from Swift's own hashing: random, but constant with
  /// `SWIFT_DETERMINISTIC_HASHING`, so that a simulation can be repeated.
  static let processSecret: SipHash13.Secret = {
    func word(_ number: Int) -> UInt64 {
      var hasher = Hasher()
      hasher.combine(number)
      return UInt64(bitPattern: Int64(hasher.finalize()))
    }
    return SipHash13.Secret(low: word(0), high: word(1))
  }()

  /// SipHash-1-3 of the key: target, 0xFF, partition, 0xFF, content digest, mode, method class. UTF-8 never
  /// contains 0xFF, and the fields after the digest have a fixed length, so different keys never give the
  /// same bytes.
  ///
  /// - Parameter secret: unknown to clients.
  package func hash(under secret: SipHash13.Secret) -> UInt64 {
    Self.hash(
      mode: mode, partition: partition, methodClass: methodClass, target: target,
      contentDigest: contentDigest, under: secret)
  }

  static func hash(
    mode: CacheMode, partition: String, methodClass: MethodClass, target: String,
    contentDigest: [UInt8], under secret: SipHash13.Secret
  ) -> UInt64 {
    var hash = SipHash13(secret)
    append(target, to: &hash)
    append(partition, to: &hash)
    if !contentDigest.isEmpty { contentDigest.withUnsafeBytes { hash.append($0) } }
    hash.append(mode.rawValue)
    hash.append(methodClass.rawValue)
    return hash.finish()
  }

  private static func append(_ text: String, to hash: inout SipHash13) {
    if !text.isEmpty {
      var text = text
      text.withUTF8 { hash.append(UnsafeRawBufferPointer($0)) }
    }
    hash.append(0xFF)
  }
}

extension CacheKey {
  /// Makes the key of a request (RFC 9111 §2) after applying the overrides of the rules. Overrides never change the
  /// origin of a target.
  ///
  /// A QUERY request gets a key without its content; the engine adds the digest.
  ///
  /// - Returns: nil if the request has no authority or path, or no valid `http` or `https` target.
  public init?(request: HTTPRequest, rules: CacheRules, partition: String = "") {
    guard let target = Self.target(of: request) else { return nil }
    let rules = rules.resolved(for: request, target: target)
    self.init(request: request, target: target, rules: rules, partition: partition)
  }

  /// Like `init(request:rules:partition:)`, for resolved rules and a known normalised target.
  package init(request: HTTPRequest, target: String, rules: CacheRules, partition: String) {
    self.init(
      mode: rules.mode, partition: partition, methodClass: request.method == .query ? .query : .get,
      target: rules.keyTarget(of: target))
  }
}
