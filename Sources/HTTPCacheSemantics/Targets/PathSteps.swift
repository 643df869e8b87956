/// The steps in which origins change a path before they look it up. Each returns nil if it changes nothing.
///
/// Paths are in the form of a normalised target: spaces, controls and octets outside of ASCII are percent-encoded.
enum PathSteps {
  static let all: [@Sendable ([UInt8]) -> [UInt8]?] = [
    decoded, folded, withSlashes, withMergedSlashes, withoutParameters, withoutDotSegments,
    withTrimmedSegments,
    withoutStreams, withoutSessions, withoutAuthority, beforeQuery, beforeFragment, beforeNull, beforeLineEnd,
  ]

  /// Decodes visible ASCII once, `%2541` to `%41`. All servers do, proxies in front of them often once more. IIS also
  /// decodes `%u002F`.
  private static func decoded(_ path: [UInt8]) -> [UInt8]? {
    guard path.contains(percent) else { return nil }
    var output: [UInt8] = []
    output.reserveCapacity(path.count)
    var index = 0
    while index < path.count {
      if let value = TargetURI.triplet(path, at: index) {
        append(UInt32(value), to: &output)
        index += 3
      } else if let value = unit(path, at: index) {
        append(value, to: &output)
        index += 6
      } else {
        output.append(path[index])
        index += 1
      }
    }
    return output == path ? nil : output
  }

  /// Replaces characters outside of ASCII, and overlong encodings of ASCII (RFC 3629 §3), with the ASCII characters
  /// that some servers and file systems take them for.
  private static func folded(_ path: [UInt8]) -> [UInt8]? {
    guard path.contains(percent) else { return nil }
    var output: [UInt8] = []
    var hasChanged = false
    var index = 0
    while index < path.count {
      if let (scalar, length) = scalar(path, at: index), let text = FoldedScalars.text(of: scalar) {
        for octet in text { append(UInt32(octet), to: &output) }
        index += length
        hasChanged = true
      } else {
        output.append(path[index])
        index += 1
      }
    }
    return hasChanged ? output : nil
  }

  /// Takes backslashes for slashes, as IIS, Windows and browsers do.
  private static func withSlashes(_ path: [UInt8]) -> [UInt8]? {
    guard path.contains(UInt8(ascii: "\\")) else { return nil }
    return path.map { $0 == UInt8(ascii: "\\") ? slash : $0 }
  }

  /// Merges slashes, as nginx and Apache do.
  private static func withMergedSlashes(_ path: [UInt8]) -> [UInt8]? {
    var output: [UInt8] = []
    output.reserveCapacity(path.count)
    for octet in path where octet != slash || output.last != slash { output.append(octet) }
    return output.count == path.count ? nil : output
  }

  /// Drops `;parameters` of segments, as servlet containers do.
  private static func withoutParameters(_ path: [UInt8]) -> [UInt8]? {
    guard path.contains(UInt8(ascii: ";")) else { return nil }
    return mappingSegments(path) { $0.prefix { $0 != UInt8(ascii: ";") } }
  }

  /// Resolves dot segments (RFC 3986 §5.2.4).
  private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8]? {
    var output: [UInt8] = []
    path.withUnsafeBufferPointer { TargetURI.appendResolved($0, to: &output) }
    return output == path ? nil : output
  }

  /// Drops spaces, controls and dots at the end of segments, as Windows does.
  private static func withTrimmedSegments(_ path: [UInt8]) -> [UInt8]? {
    mappingSegments(path) { segment in
      var segment = segment
      while segment.count >= 3, let value = TargetURI.triplet(path, at: segment.endIndex - 3),
        value <= 0x20 || value == 0x7F
      {
        segment.removeLast(3)
      }
      // Segments `.` and `..` are for `withoutDotSegments`.
      guard segment.contains(where: { $0 != UInt8(ascii: ".") }) else { return segment }
      while segment.last == UInt8(ascii: ".") { segment.removeLast() }
      return segment
    }
  }

  /// Drops names of streams such as `::$DATA`, as NTFS does.
  private static func withoutStreams(_ path: [UInt8]) -> [UInt8]? {
    guard path.contains(UInt8(ascii: "$")) else { return nil }
    return mappingSegments(path) { segment in
      guard let colon = segment.firstIndex(of: UInt8(ascii: ":")),
        segment[colon...].contains(UInt8(ascii: "$"))
      else {
        return segment
      }
      return segment[..<colon]
    }
  }

  /// Drops segments such as `(S(id))`, as ASP.NET does: sessions without cookies.
  private static func withoutSessions(_ path: [UInt8]) -> [UInt8]? {
    guard path.contains(UInt8(ascii: "(")) else { return nil }
    let segments = path.split(separator: slash, omittingEmptySubsequences: false)
    let kept = segments.filter { segment in
      let isSession =
        segment.count >= 5 && segment.first == UInt8(ascii: "(")
        && segment.dropFirst().first?.isLetter == true
        && segment.dropFirst(2).first == UInt8(ascii: "(") && segment.suffix(2).elementsEqual("))".utf8)
      return !isSession
    }
    guard kept.count < segments.count else { return nil }
    return kept.count > 1 ? Array(kept.joined(separator: [slash])) : [slash]
  }

  /// Takes `//name` for an authority (RFC 3986 §4.2), as programs do that parse the target as a reference.
  private static func withoutAuthority(_ path: [UInt8]) -> [UInt8]? {
    guard path.count >= 2, path[0] == slash, path[1] == slash else { return nil }
    let rest = path[2...].drop { $0 != slash }
    return rest.isEmpty ? [slash] : Array(rest)
  }

  /// Ends the path at `?`, after it was decoded.
  private static func beforeQuery(_ path: [UInt8]) -> [UInt8]? { path.before(UInt8(ascii: "?")) }

  /// Ends the path at `#`, after it was decoded.
  private static func beforeFragment(_ path: [UInt8]) -> [UInt8]? { path.before(UInt8(ascii: "#")) }

  /// Ends the path at NUL, as programs in C do.
  private static func beforeNull(_ path: [UInt8]) -> [UInt8]? { before(path) { $0 == 0 } }

  /// Ends the path at the end of a line, as regular expressions with `$` do.
  private static func beforeLineEnd(_ path: [UInt8]) -> [UInt8]? { before(path) { $0 == 0x0A || $0 == 0x0D } }
}

// MARK: Octets

extension PathSteps {
  private static let slash = UInt8(ascii: "/")
  private static let percent = UInt8(ascii: "%")

  private static func mappingSegments(
    _ path: [UInt8], _ change: (ArraySlice<UInt8>) -> ArraySlice<UInt8>
  ) -> [UInt8]? {
    let changed = Array(
      path.split(separator: slash, omittingEmptySubsequences: false).map(change).joined(separator: [slash]))
    return changed.count == path.count ? nil : changed
  }

  private static func before(_ path: [UInt8], _ isEnd: (UInt8) -> Bool) -> [UInt8]? {
    path.indices.first { TargetURI.triplet(path, at: $0).map(isEnd) ?? false }.map { Array(path[..<$0]) }
  }

  /// Appends a character. Controls, spaces and what is outside of ASCII are encoded.
  private static func append(_ scalar: UInt32, to output: inout [UInt8]) {
    if scalar > 0x20, scalar < 0x7F {
      output.append(UInt8(truncatingIfNeeded: scalar))
    } else if scalar <= 0xFF {
      TargetURI.appendEncoded(UInt8(truncatingIfNeeded: scalar), to: &output)
    } else if let scalar = Unicode.Scalar(scalar) {
      for octet in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
        TargetURI.appendEncoded(octet, to: &output)
      }
    }
  }

  /// The value of `%u0041` at an index.
  private static func unit(_ path: [UInt8], at index: Int) -> UInt32? {
    guard index + 5 < path.count, path[index] == percent, path[index + 1] | 0x20 == UInt8(ascii: "u") else {
      return nil
    }
    var value: UInt32 = 0
    for digit in path[(index + 2)...(index + 5)] {
      guard let digit = digit.hexValue else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// The encoded character at an index, also if it is longer than necessary, and the length of its encoding. The octet
  /// after `%C0` or `%C1` may be any one: decoders that do not check it take its low six bits.
  private static func scalar(_ path: [UInt8], at index: Int) -> (scalar: UInt32, length: Int)? {
    guard let lead = TargetURI.triplet(path, at: index), lead >= 0xC0, lead < 0xF8 else { return nil }
    let count = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3
    var value = UInt32(lead & (0x3F >> UInt8(count)))
    for place in 1...count {
      guard let next = TargetURI.triplet(path, at: index + 3 * place), next & 0xC0 == 0x80 || lead < 0xC2
      else {
        return nil
      }
      value = value << 6 | UInt32(next & 0x3F)
    }
    return (value, 3 * (count + 1))
  }
}

extension [UInt8] {
  /// The octets before the first one of a value; nil without it.
  fileprivate func before(_ octet: UInt8) -> [UInt8]? { firstIndex(of: octet).map { Array(self[..<$0]) } }
}

/// The characters that some servers and file systems take for ASCII characters: compatibility forms (Unicode Standard
/// Annex 15), "best fit" of Windows, and letters whose other case is ASCII.
private enum FoldedScalars {
  static func text(of scalar: UInt32) -> [UInt8]? {
    switch scalar {
    // An overlong encoding.
    case 0..<0x80: [UInt8(truncatingIfNeeded: scalar)]
    case 0xFF01...0xFF5E: [UInt8(truncatingIfNeeded: scalar - 0xFEE0)]
    case 0x2044, 0x2215, 0x29F8: Array("/".utf8)
    case 0x2216, 0x29F5, 0xFE68: Array("\\".utf8)
    case 0x2024, 0xFE52, 0x3002: Array(".".utf8)
    case 0x2025: Array("..".utf8)
    case 0x037E, 0xFE54: Array(";".utf8)
    case 0xFE56: Array("?".utf8)
    case 0xFE5F: Array("#".utf8)
    case 0xFE6A: Array("%".utf8)
    case 0x00A0, 0x3000: Array(" ".utf8)
    case 0x0130, 0x0131: Array("i".utf8)
    case 0x017F: Array("s".utf8)
    case 0x212A: Array("k".utf8)
    default: nil
    }
  }
}
