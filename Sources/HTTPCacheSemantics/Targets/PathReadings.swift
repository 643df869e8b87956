/// The paths that origins may read instead of a requested path.
///
/// RFC 3986 §6.2.2 defines which spellings of a path are equal. Origins go further: some decode `%2F`, take `\` for
/// `/`, drop `;parameters`, merge slashes, or end the path at `%00`. A rule that restricts caching must hold for each
/// path that an origin may read (`docs/decisions/0049-restrictions-hold-for-every-reading.md`).
///
/// A reading is what any sequence of `steps` makes of the path. Letter case stays: compare readings without it.
public struct PathReadings: Sendable, Hashable {
  /// The maximum number of readings of one path.
  private static let limit = 96
  /// The maximum number of octets of all readings of one path, beyond its own length.
  private static let octetLimit = 64 << 10

  /// The readings that differ from the path, each with the query of the path.
  public let others: [String]
  /// Whether the path has more readings than these. An origin may then read it as any path.
  public let isIncomplete: Bool
  /// Whether a reading has a segment `..`, which an origin may resolve. True if `isIncomplete`.
  public let hasParentSegment: Bool

  /// Finds the readings of a path.
  ///
  /// A path without percent-encoding, punctuation that origins read in different ways, and empty segments has none;
  /// finding that out is one pass over the path.
  ///
  /// - Parameter path: a normalised path with or without a query, as in `CacheKey.target`.
  public init(of path: some StringProtocol) {
    let octets = path.utf8.prefix { $0 != UInt8(ascii: "?") }
    self.init(Array(octets), query: path.utf8.dropFirst(octets.count))
  }

  private init(_ path: [UInt8], query: some Collection<UInt8>) {
    guard path.withUnsafeBufferPointer({ Self.mayHaveOthers($0, from: 0) }) else {
      (others, isIncomplete, hasParentSegment) = ([], false, false)
      return
    }
    var (found, next, isIncomplete) = ([path], 0, false)
    var octetsLeft = Self.octetLimit
    search: while next < found.count {
      for step in PathSteps.all {
        guard let reading = step(found[next]), !found.contains(reading) else { continue }
        octetsLeft -= reading.count
        guard found.count < Self.limit, octetsLeft >= 0 else {
          isIncomplete = true
          break search
        }
        found.append(reading)
      }
      next += 1
    }
    others = found.dropFirst().map { String(decoding: $0 + query, as: UTF8.self) }
    self.isIncomplete = isIncomplete
    hasParentSegment =
      isIncomplete
      || found.contains { path in
        path.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
      }
  }

  /// Whether any step may change a path.
  ///
  /// - Parameters:
  ///   - octets: the path begins in them, and ends with them or at the first `?`.
  ///   - start: the index of the path.
  static func mayHaveOthers(_ octets: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    var previous: UInt8 = 0
    for index in start..<octets.count {
      let octet = octets[index]
      switch octet {
      case UInt8(ascii: "?"): return previous == UInt8(ascii: ".")
      case UInt8(ascii: "%"), UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: "#"), UInt8(ascii: "("):
        return true
      case UInt8(ascii: "/") where previous == UInt8(ascii: "/") || previous == UInt8(ascii: "."): return true
      case UInt8(ascii: ".") where previous == UInt8(ascii: "/"): return true
      case UInt8(ascii: "$") where previous == UInt8(ascii: ":"): return true
      default: previous = octet
      }
    }
    return previous == UInt8(ascii: ".")
  }
}
