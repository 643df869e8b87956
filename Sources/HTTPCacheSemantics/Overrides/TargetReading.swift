import HTTPTypes

/// A target that an origin may read instead of a requested one.
struct TargetReading {
  /// In the form of a normalised target.
  let target: String
  /// The request with the path of this reading; nil for the requested path.
  let request: HTTPRequest?

  /// The readings of the target of a request, the requested path first; nil if there are more than are looked at.
  ///
  /// A host with a dot at its end, the root label of a whole name (RFC 1034 §3.1), is read without the dot.
  ///
  /// - Parameter target: the normalised target of the request.
  static func all(of request: HTTPRequest, target: String) -> [TargetReading]? {
    guard let path = pathStart(of: target) else { return [TargetReading(target: target, request: nil)] }
    let readings = PathReadings(of: target[path...])
    if readings.isIncomplete { return nil }
    let origin = withoutRootLabel(target[..<path])
    let requested = origin == target[..<path] ? target : String(origin) + String(target[path...])
    return [TargetReading(target: requested, request: nil)]
      + readings.others.map { other in
        var read = request
        read.path = other
        return TargetReading(target: String(origin) + other, request: read)
      }
  }

  private static func pathStart(of target: String) -> String.Index? {
    let octets = target.utf8
    guard let colon = octets.firstIndex(of: UInt8(ascii: ":")),
      let authority = octets.index(colon, offsetBy: 3, limitedBy: octets.endIndex)
    else { return nil }
    return octets[authority...].firstIndex(of: UInt8(ascii: "/"))
  }

  /// An origin without the dots at the end of its host.
  private static func withoutRootLabel(_ origin: Substring) -> Substring {
    let octets = origin.utf8
    var end = octets.endIndex
    if let colon = octets.lastIndex(of: UInt8(ascii: ":")),
      octets[octets.index(after: colon)...].allSatisfy(\.isDigit)
    {
      end = colon
    }
    guard octets[..<end].last == UInt8(ascii: ".") else { return origin }
    var host = origin[..<end]
    while host.utf8.last == UInt8(ascii: ".") { host.removeLast() }
    return Substring(host + origin[end...])
  }
}
