public import HTTPTypes

extension CacheKey {
  /// Makes the key of a request (RFC 9111 §2).
  ///
  /// A QUERY request gets a key without its content; the engine adds the digest.
  ///
  /// - Returns: nil if the request has no authority or path, or no valid `http` or `https` target.
  public init?(request: HTTPRequest, mode: CacheMode, partition: String = "") {
    guard let target = Self.target(of: request) else { return nil }
    self.init(
      mode: mode, partition: partition, methodClass: request.method == .query ? .query : .get,
      target: target)
  }

  /// The normalised target URI of a request (RFC 9110 §7.1, §4.2.3). A request without a scheme gets `http`.
  public static func target(of request: HTTPRequest) -> String? {
    guard var authority = request.authority, var path = request.path else { return nil }
    let scheme = request.scheme ?? "http"
    let isSecure = scheme == "https"
    if isSecure || scheme == "http", authority.withUTF8({ isNormalAuthority($0, isSecure: isSecure) }),
      path.withUTF8({ isNormalPath($0) })
    {
      return joined(isSecure ? "https://" : "http://", authority, path)
    }
    // The asterisk form targets the origin as a whole: an empty path (RFC 9110 §7.1).
    if path == "*" { path = "" }
    guard path.isEmpty || path.utf8.first == UInt8(ascii: "/") || path.utf8.first == UInt8(ascii: "?")
    else { return nil }
    return TargetURI.key(scheme + "://" + authority + path)
  }

  private static func joined(_ scheme: StaticString, _ authority: String, _ path: String) -> String {
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
