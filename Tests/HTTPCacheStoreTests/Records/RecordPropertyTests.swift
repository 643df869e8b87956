import HTTPCacheSemantics
import HTTPTypes
import Testing

@testable import HTTPCacheStore

/// Compares records property by property, so that a property that a codec or a copy forgets fails a test.
@Suite(.timeLimit(.minutes(10))) struct RecordPropertyTests {
  /// The properties that no store writes: for the writer only, or worked out.
  private static let unwritten: Set = ["isResumable", "ticket"]

  /// Each window with seconds of its own.
  private static var windows: ReuseWindows {
    var windows = ReuseWindows()
    for (index, window) in ReuseWindow.allCases.enumerated() { windows[window] = 100 + Int64(index) }
    return windows
  }

  /// A record without any property at its default.
  private static var full: CacheRecord {
    CacheRecord(
      key: CacheKey(
        mode: .shared, partition: "account", methodClass: .query, target: "https://example.com/full",
        contentDigest: [1, 2]),
      response: StoredResponse(
        requestMethod: .query, nominated: [NominatedField(name: .acceptLanguage, value: .text("de"))],
        head: HTTPResponse(status: .notFound, headerFields: [.eTag: "\"1\""]),
        trailers: [.eTag: "\"2\""], requestTime: Timestamp(seconds: 11),
        responseTime: Timestamp(seconds: 12), answeredAuthorized: true, isDecoded: true,
        isInvalidated: true, isExpired: true, requestedRange: "bytes=1-2",
        facts: ReuseFacts(
          freshnessLifetime: 13, lifetimeSource: .expires, correctedInitialAge: 14,
          directives: [.immutable], windows: windows, overrides: 17),
        keyFingerprint: 18),
      bodyLength: 19, storedRanges: [1..<3], groups: ["g"], userInfo: [20], isSeed: true, isPinned: true,
      isMemoryOnly: true, isResumable: true, sequence: 21, ticket: ChangeCounters().ticket())
  }

  /// Each property with its path, such as `response.facts.overrides`.
  private static func properties(_ value: Any, _ path: String = "") -> [String: String] {
    var found: [String: String] = [:]
    for child in Mirror(reflecting: value).children {
      // `answered` is a cache of heads.
      guard let label = child.label, label != "answered" else { continue }
      let name = path.isEmpty ? label : "\(path).\(label)"
      switch child.value {
      case is CacheKey, is StoredResponse, is ReuseFacts, is ReuseWindows:
        found.merge(properties(child.value, name)) { first, _ in first }
      case let head as HTTPResponse: found[name] = "\(head.status) \(Array(head.headerFields))"
      case let fields as HTTPFields: found[name] = "\(Array(fields))"
      case let directives as ReuseFacts.Directives: found[name] = "\(directives.rawValue)"
      default: found[name] = "\(child.value)"
      }
    }
    return found
  }

  private func requireDifferent() {
    let (full, plain) = (Self.properties(Self.full), Self.properties(RandomRecord.plain))
    for (name, value) in plain {
      #expect(full[name] != value, "\(name): `full` requires another value than its default")
    }
  }

  @Test("the codec keeps every property of a record, of its key, its response and its facts")
  func codec() throws {
    requireDifferent()
    let full = Self.properties(Self.full)
    #expect(full.count >= 29)
    let decoded = Self.properties(try RecordCodec.decode(try RecordCodec.encode(Self.full)))
    for (name, value) in full where !Self.unwritten.contains(name) {
      #expect(decoded[name] == value, "\(name) is not encoded or not decoded")
    }
  }

  @Test("a copy keeps every property that it does not change")
  func copies() {
    requireDifferent()
    let full = Self.full
    #expect(Self.properties(full.with()) == Self.properties(full))
    #expect(
      Self.properties(full.storing(full.storedRanges, bodyLength: full.bodyLength)) == Self.properties(full))
  }
}
