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

  /// Calls `body` with the octets of the target and the index of its path; false if there is none.
  func withOctets(_ body: (Octets, Int) -> Bool) -> Bool {
    var target = target
    return target.withUTF8 { octets in Self.pathStart(octets).map { body(octets, $0) } ?? false }
  }

  /// The readings of the target of a request, the requested path first; nil if there are more than are looked at.
  ///
  /// A host with a dot at its end, the root label of a whole name (RFC 1034 §3.1), is read without the dot.
  ///
  /// - Parameter target: the normalised target of the request.
  static func all(of request: HTTPRequest, target: String) -> [TargetReading]? {
    var octets = target
    let start = octets.withUTF8 { octets in
      pathStart(octets).flatMap { hasOthers(octets, path: $0) ? $0 : nil }
    }
    guard let start else { return [TargetReading(target: target, request: nil)] }
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
  ///
  /// - Parameter path: the index of its path.
  static func hasOthers(_ octets: Octets, path: Int) -> Bool {
    for index in 0..<path where octets[index] == UInt8(ascii: ".") {
      if index + 1 == path || octets[index + 1] == UInt8(ascii: ":") { return true }
    }
    return PathReadings.mayHaveOthers(octets, from: path)
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
