/// Compares octets with a pattern with wildcards. All positions of the pattern that may have been reached are
/// kept as bits, so that no target causes backtracking.
///
/// `**` that is a whole segment also matches no segment: `/**/x` matches `/x`. The positions of these `**` are `deep`:
/// a comparison that arrives at one also arrives behind the slash that follows it.
final class GlobProgram: Sendable {
  /// The octets before the first wildcard.
  private let prefix: [UInt8]
  /// The number of positions after the prefix, one more than there are tokens.
  private let count: Int
  private let words: Int
  /// For each octet, the positions that it advances from.
  private let literals: [UInt64]
  /// The positions of `*`, of `**`, and of both.
  private let segmentWildcards: [UInt64]
  private let wildcards: [UInt64]
  private let skippable: [UInt64]
  /// The positions of each `**` between two slashes.
  private let deep: [UInt64]

  init(_ form: [UInt8]) {
    let star = UInt8(ascii: "*")
    let form = Self.collapsed(form)
    prefix = Array(form.prefix { $0 != star })
    // A token is an octet, or nil for a run of stars.
    var tokens: [(octet: UInt8?, stars: Int)] = []
    for octet in form.dropFirst(prefix.count) {
      if octet != star {
        tokens.append((octet, 0))
      } else if let last = tokens.last, last.octet == nil {
        tokens[tokens.count - 1].stars += 1
      } else {
        tokens.append((nil, 1))
      }
    }
    count = tokens.count + 1
    words = (count + 63) / 64
    var literals = [UInt64](repeating: 0, count: 256 * words)
    var segmentWildcards = [UInt64](repeating: 0, count: words)
    var wildcards = segmentWildcards
    var deep = segmentWildcards
    for (place, token) in tokens.enumerated() {
      let bit: UInt64 = 1 << UInt64(place % 64)
      if let octet = token.octet {
        literals[Int(octet) * words + place / 64] |= bit
      } else if token.stars == 1 {
        segmentWildcards[place / 64] |= bit
      } else {
        wildcards[place / 64] |= bit
        let before = place == 0 ? prefix.suffix(2) : tokens[..<place].suffix(2).compactMap { $0.octet }[...]
        if Self.isWholeSegment(after: before, next: place + 1 < tokens.count ? tokens[place + 1].octet : nil)
        {
          deep[place / 64] |= bit
        }
      }
    }
    self.deep = deep
    self.literals = literals
    self.segmentWildcards = segmentWildcards
    self.wildcards = wildcards
    skippable = zip(segmentWildcards, wildcards).map { $0 | $1 }
  }

  /// Whether `**` is a segment of a path. Behind `//` it is the host of a pattern such as `https://**/x`.
  private static func isWholeSegment(after before: ArraySlice<UInt8>, next: UInt8?) -> Bool {
    let slash = UInt8(ascii: "/")
    return before.last == slash && next == slash && (before.count < 2 || before.first != slash)
  }

  /// The pattern with `**` for more stars, and with one `**` for several segments of `**` in a row: no `**` then
  /// follows a deep one at once.
  private static func collapsed(_ form: [UInt8]) -> [UInt8] {
    let star = UInt8(ascii: "*")
    let repeated = Array("/**/**/".utf8)
    var output: [UInt8] = []
    for octet in form where octet != star || !output.suffix(2).elementsEqual([star, star]) {
      output.append(octet)
      if output.suffix(repeated.count).elementsEqual(repeated) { output.removeLast("**/".utf8.count) }
    }
    return output
  }

  /// Sets the places where a comparison begins.
  private func begin(_ places: UnsafeMutableBufferPointer<UInt64>) {
    places.initialize(repeating: 0)
    places[0] = deep[0] & 1 == 1 ? 0b101 : 1
    skip(places)
  }

  /// Whether octets in any letter case may begin a match. False if an octet before the first `?` differs from the
  /// pattern's octets before its first wildcard: then no beginning of these octets matches, either.
  func mayBegin(_ octets: Octets, from start: Int) -> Bool {
    for (index, octet) in zip(start..<octets.count, prefix) {
      if octets[index].lowercased != octet { return octets[index] == UInt8(ascii: "?") }
    }
    return true
  }

  /// Whether a form of a target may match a pattern without a query: in any letter case, the octets before the first
  /// `?`, or those before one of their dots or slashes, or all of them with a slash behind them.
  func mayAccept(_ octets: Octets, from start: Int) -> Bool {
    guard mayBegin(octets, from: start) else { return false }
    if count == 1 { return true }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: words) { places in
      begin(places)
      var index = start + prefix.count
      while index < octets.count, octets[index] != UInt8(ascii: "?") {
        let octet = octets[index].lowercased
        if octet == UInt8(ascii: "/") || octet == UInt8(ascii: "."), isAtEnd(places) { return true }
        if !advance(places, over: octet) { return false }
        index += 1
      }
      return isAtEnd(places) || (advance(places, over: UInt8(ascii: "/")) && isAtEnd(places))
    }
  }

  /// Whether all octets match the pattern.
  func accepts<Target: RandomAccessCollection<UInt8>>(_ octets: Target) -> Bool where Target.Index == Int {
    guard octets.count >= prefix.count else { return false }
    let start = octets.startIndex
    for index in prefix.indices where octets[start + index] != prefix[index] { return false }
    if count == 1 { return octets.count == prefix.count }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: words) { places in
      begin(places)
      for index in (start + prefix.count)..<octets.endIndex where !advance(places, over: octets[index]) {
        return false
      }
      return isAtEnd(places)
    }
  }

  /// Whether `places` has the last position.
  private func isAtEnd(_ places: UnsafeMutableBufferPointer<UInt64>) -> Bool {
    places[(count - 1) / 64] >> UInt64((count - 1) % 64) & 1 == 1
  }

  /// - Returns: whether any position is left.
  private func advance(_ places: UnsafeMutableBufferPointer<UInt64>, over octet: UInt8) -> Bool {
    let isInSegment = octet != UInt8(ascii: "/") && octet != UInt8(ascii: "?")
    var carry: UInt64 = 0
    var deepCarry: UInt64 = 0
    var isAny: UInt64 = 0
    for word in 0..<words {
      let moved = places[word] & literals[Int(octet) * words + word]
      var stays = places[word] & wildcards[word]
      if isInSegment { stays |= places[word] & segmentWildcards[word] }
      let arrived = moved << 1 | carry
      // Only arriving counts: a `**` that has matched octets needs the slash behind it.
      let skipped = arrived & deep[word]
      places[word] = arrived | stays | skipped << 2 | deepCarry
      carry = moved >> 63
      deepCarry = skipped >> 62
      isAny |= places[word]
    }
    skip(places)
    return isAny != 0
  }

  /// A wildcard may match nothing. Two wildcards never follow each other.
  private func skip(_ places: UnsafeMutableBufferPointer<UInt64>) {
    var carry: UInt64 = 0
    for word in 0..<words {
      let skipped = places[word] & skippable[word]
      places[word] |= skipped << 1 | carry
      carry = skipped >> 63
    }
  }
}
