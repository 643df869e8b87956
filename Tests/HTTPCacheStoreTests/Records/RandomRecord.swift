import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes

/// Records with lengths, counts and names of every kind, valid and impossible; equal seeds make equal records.
struct RandomRecord {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static var plain: CacheRecord {
    CacheRecord(
      key: CacheKey(mode: .private, partition: "", target: "https://example.com/"),
      response: StoredResponse(
        requestMethod: .get, nominated: [], head: HTTPResponse(status: .ok),
        requestTime: Timestamp(seconds: 1), responseTime: Timestamp(seconds: 2),
        facts: ReuseFacts(freshnessLifetime: 60, lifetimeSource: .maxAge, correctedInitialAge: 0)))
  }

  var record: CacheRecord {
    var maker = self
    return maker.make()
  }

  private mutating func make() -> CacheRecord {
    var head = HTTPResponse(status: .init(code: random.below(1_000), reasonPhrase: text()))
    head.headerFields = fields()
    var windows = ReuseWindows()
    for window in ReuseWindow.allCases where random.oneIn(2) { windows[window] = number() }
    let facts = ReuseFacts(
      freshnessLifetime: number(), lifetimeSource: random.oneIn(2) ? .heuristic : .maxAge,
      correctedInitialAge: number(),
      directives: ReuseFacts.Directives(rawValue: UInt32(random.below(1 << 16))),
      windows: windows, overrides: random.oneIn(3) ? random.next() : 0)
    let response = StoredResponse(
      requestMethod: HTTPRequest.Method(name()) ?? .get, nominated: nominated(), head: head,
      trailers: fields(), requestTime: Timestamp(seconds: number()),
      responseTime: Timestamp(seconds: number()),
      answeredAuthorized: random.oneIn(2), isDecoded: random.oneIn(2), isInvalidated: random.oneIn(2),
      isExpired: random.oneIn(2), requestedRange: random.oneIn(3) ? text() : nil, facts: facts,
      keyFingerprint: random.oneIn(3) ? random.next() : 0)
    let key = CacheKey(
      mode: random.oneIn(2) ? .shared : .private, partition: text(),
      methodClass: random.oneIn(3) ? .query : .get,
      target: text(), contentDigest: bytes())
    // Lengths are small, so that ranges lie within the body, at its end and beyond it.
    let length = random.oneIn(3) ? nil : random.oneIn(8) ? number() : Int64(random.below(400))
    return CacheRecord(
      key: key, response: response, bodyLength: length, storedRanges: random.oneIn(3) ? nil : ranges(),
      groups: (0..<random.below(4)).map { _ in text() }, userInfo: bytes(), isSeed: random.oneIn(2),
      isPinned: random.oneIn(2),
      isMemoryOnly: random.oneIn(2), isResumable: random.oneIn(2), sequence: random.next(), ticket: nil)
  }

  private mutating func ranges() -> [Range<Int64>] {
    var ranges: [Range<Int64>] = []
    var end: Int64 = random.oneIn(20) ? -3 : 0
    for _ in 0..<random.below(4) {
      if random.oneIn(12) { end -= 3 }
      let lower = end + Int64(random.below(60))
      end = lower + Int64(random.below(60))
      ranges.append(lower..<end)
    }
    return ranges
  }

  private mutating func nominated() -> [NominatedField] {
    (0..<random.below(3)).compactMap { _ in
      guard let name = HTTPField.Name(name()) else { return nil }
      let value: NominatedField.Value =
        switch random.below(3) {
        case 0: .absent
        case 1: .text(text())
        default: .digest(bytes())
        }
      return NominatedField(name: name, value: value)
    }
  }

  private mutating func fields() -> HTTPFields {
    var fields = HTTPFields()
    for _ in 0..<(random.oneIn(400) ? 16_380 + random.below(10) : random.below(5)) {
      guard let name = HTTPField.Name(name()) else { continue }
      fields.append(HTTPField(name: name, lenientValue: bytes()))
    }
    return fields
  }

  private mutating func name() -> String {
    let names = [
      "Content-Type", "content-type", "ETag", "x", "X-A", "!#$%&'*+-.^_`|~", "A B", "", "ü", "QUERY",
    ]
    return names[random.below(names.count)]
  }

  private mutating func text() -> String {
    let texts = ["", "a", "https://example.com/a?b=c", "ü€😀", "e\u{301}", "\u{0}", "a\r\nb", "K"]
    return texts[random.below(texts.count)]
  }

  private mutating func bytes() -> [UInt8] {
    (0..<random.below(6)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  /// A number, mostly near the limits.
  private mutating func number() -> Int64 {
    let edges: [Int64] = [0, 1, -1, 63, 64, -65, 8_191, 1 << 31, .max, .min]
    return random.oneIn(2) ? edges[random.below(edges.count)] : Int64(truncatingIfNeeded: random.next())
  }
}
