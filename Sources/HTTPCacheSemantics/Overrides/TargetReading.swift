import HTTPTypes

/// A target that an origin may read instead of a requested one.
struct TargetReading {
  /// In the form of a normalised target.
  let target: String
  /// The request with the path of this reading; nil for the requested path.
  let request: HTTPRequest?

  /// Whether a pattern matches this reading (`TargetPattern.covers`).
  func isCovered(by pattern: TargetPattern) -> Bool {
    withOctets { pattern.covers($0, path: $1, request) }
  }

  /// Whether an override whose method is that of the request matches this reading.
  func isCovered(by override: RuleOverride) -> Bool {
    withOctets { override.covers($0, path: $1, request) }
  }

  private func withOctets(_ body: (Octets, Int) -> Bool) -> Bool {
    var target = target
    return target.withUTF8 { octets in Self.pathStart(octets).map { body(octets, $0) } ?? false }
  }

  /// The readings of the target of a request, the requested path first; nil if there are more than are looked at.
  ///
  /// A host with a dot at its end, the root label of a whole name (RFC 1034 §3.1), is read without the dot.
  ///
  /// - Parameter target: the normalised target of the request.
  static func all(of request: HTTPRequest, target: String) -> [TargetReading]? {
    guard hasOthers(target) else { return [TargetReading(target: target, request: nil)] }
    var octets = target
    guard let start = octets.withUTF8({ pathStart($0) }) else {
      return [TargetReading(target: target, request: nil)]
    }
    let path = target.utf8.index(target.startIndex, offsetBy: start)
    let readings = PathReadings(of: target[path...])
    if readings.isIncomplete { return nil }
    let origin = withoutRootLabel(target[..<path])
    return [TargetReading(target: origin + target[path...], request: nil)]
      + readings.others.map { other in
        var read = request
        read.path = other
        return TargetReading(target: origin + other, request: read)
      }
  }

  /// Whether a target may have other readings than itself.
  static func hasOthers(_ target: String) -> Bool {
    var target = target
    return target.withUTF8 { octets in
      guard let path = pathStart(octets) else { return false }
      return octets[..<path].contains(UInt8(ascii: "."), before: UInt8(ascii: ":"))
        || PathReadings.mayHaveOthers(octets[path...].prefix { $0 != UInt8(ascii: "?") })
    }
  }

  /// The index of the path of a target; nil if the text is no target.
  static func pathStart(_ octets: Octets) -> Int? {
    guard let colon = octets.firstIndex(of: UInt8(ascii: ":")), colon + 3 <= octets.count else { return nil }
    return octets[(colon + 3)...].firstIndex(of: UInt8(ascii: "/"))
  }

  /// An origin without the dots at the end of its host.
  private static func withoutRootLabel(_ origin: Substring) -> String {
    let octets = origin.utf8
    var end = octets.endIndex
    if let colon = octets.lastIndex(of: UInt8(ascii: ":")),
      octets[octets.index(after: colon)...].allSatisfy(\.isDigit)
    {
      end = colon
    }
    var host = origin[..<end]
    while host.utf8.last == UInt8(ascii: ".") { host.removeLast() }
    return String(host) + origin[end...]
  }
}

extension Slice<Octets> {
  /// Whether an octet is the last one, or comes before another one.
  fileprivate func contains(_ octet: UInt8, before other: UInt8) -> Bool {
    if last == octet { return true }
    return indices.dropLast().contains { self[$0] == octet && self[$0 + 1] == other }
  }
}
