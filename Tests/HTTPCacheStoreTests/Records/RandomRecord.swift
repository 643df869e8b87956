import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Records with lengths, counts and names of every kind, valid and impossible; equal seeds make equal records.
struct RandomRecord {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  static var plain: CacheRecord {
    CacheRecord(
      key: CacheKey(mode: .private, partition: "", target: "https://example.com/"),
      response: StoredResponse(
        requestMethod: .get, nominated: [], head: HTTPResponse(status: .ok),
        requestTime: Timestamp(seconds: 1), responseTime: Timestamp(seconds: 2),
        facts: ReuseFacts(freshnessLifetime: 60, lifetimeSource: .maxAge, correctedInitialAge: 0)))
  }

  var record: CacheRecord {
    var random = self
    return random.make()
  }

  private mutating func make() -> CacheRecord {
    var head = HTTPResponse(status: .init(code: below(1_000), reasonPhrase: text()))
    head.headerFields = fields()
    var windows = ReuseWindows()
    for window in ReuseWindow.allCases where oneIn(2) { windows[window] = number() }
    let facts = ReuseFacts(
      freshnessLifetime: number(), lifetimeSource: oneIn(2) ? .heuristic : .maxAge,
      correctedInitialAge: number(), directives: ReuseFacts.Directives(rawValue: UInt32(below(1 << 16))),
      windows: windows, overrides: oneIn(3) ? next() : 0)
    let response = StoredResponse(
      requestMethod: HTTPRequest.Method(name()) ?? .get, nominated: nominated(), head: head,
      trailers: fields(), requestTime: Timestamp(seconds: number()),
      responseTime: Timestamp(seconds: number()),
      answeredAuthorized: oneIn(2), isDecoded: oneIn(2), isInvalidated: oneIn(2),
      requestedRange: oneIn(3) ? text() : nil, facts: facts, keyFingerprint: oneIn(3) ? next() : 0)
    let key = CacheKey(
      mode: oneIn(2) ? .shared : .private, partition: text(), methodClass: oneIn(3) ? .query : .get,
      target: text(), contentDigest: bytes())
    // Lengths are small, so that ranges lie within the body, at its end and beyond it.
    let length = oneIn(3) ? nil : oneIn(8) ? number() : Int64(below(400))
    return CacheRecord(
      key: key, response: response, bodyLength: length, storedRanges: oneIn(3) ? nil : ranges(),
      groups: (0..<below(4)).map { _ in text() }, userInfo: bytes(), isSeed: oneIn(2), isPinned: oneIn(2),
      isMemoryOnly: oneIn(2), isResumable: oneIn(2), sequence: next(), ticket: nil)
  }

  private mutating func ranges() -> [Range<Int64>] {
    var ranges: [Range<Int64>] = []
    var end: Int64 = oneIn(20) ? -3 : 0
    for _ in 0..<below(4) {
      if oneIn(12) { end -= 3 }
      let lower = end + Int64(below(60))
      end = lower + Int64(below(60))
      ranges.append(lower..<end)
    }
    return ranges
  }

  private mutating func nominated() -> [NominatedField] {
    (0..<below(3)).compactMap { _ in
      guard let name = HTTPField.Name(name()) else { return nil }
      let value: NominatedField.Value =
        switch below(3) {
        case 0: .absent
        case 1: .text(text())
        default: .digest(bytes())
        }
      return NominatedField(name: name, value: value)
    }
  }

  private mutating func fields() -> HTTPFields {
    var fields = HTTPFields()
    for _ in 0..<(oneIn(400) ? 16_380 + below(10) : below(5)) {
      guard let name = HTTPField.Name(name()) else { continue }
      fields.append(HTTPField(name: name, lenientValue: bytes()))
    }
    return fields
  }

  private mutating func name() -> String {
    let names = [
      "Content-Type", "content-type", "ETag", "x", "X-A", "!#$%&'*+-.^_`|~", "A B", "", "ü", "QUERY",
    ]
    return names[below(names.count)]
  }

  private mutating func text() -> String {
    let texts = ["", "a", "https://example.com/a?b=c", "ü€😀", "e\u{301}", "\u{0}", "a\r\nb", "K"]
    return texts[below(texts.count)]
  }

  private mutating func bytes() -> [UInt8] { (0..<below(6)).map { _ in UInt8(truncatingIfNeeded: next()) } }

  /// A number, mostly near the limits.
  private mutating func number() -> Int64 {
    let edges: [Int64] = [0, 1, -1, 63, 64, -65, 8_191, 1 << 31, .max, .min]
    return oneIn(2) ? edges[below(edges.count)] : Int64(truncatingIfNeeded: next())
  }

  private mutating func oneIn(_ times: Int) -> Bool { below(times) == 0 }

  private mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: (next() >> 11) % UInt64(limit)) }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
