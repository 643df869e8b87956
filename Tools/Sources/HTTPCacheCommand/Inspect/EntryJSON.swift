import HTTPCacheSemantics
import HTTPCaching

/// A stored response as JSON.
struct EntryJSON: Encodable {
  /// One field; a list of fields, because names may repeat.
  struct Field: Encodable {
    var name: String
    var value: String
  }

  var url: String
  var mode: String
  var partition: String
  var method: String
  var status: Int
  var size: Int64
  var bodyLength: Int64?
  var bodyPath: String?
  var isComplete: Bool
  var isSeed: Bool
  var freshness: String
  var isFresh: Bool
  var freshFor: Int64?
  var staleFor: Int64?
  /// When the response was received or last confirmed, in seconds since 1970.
  var stored: Int64
  var lastUsed: Int64
  var groups: [String]
  var lifetime: Int64?
  var directives: [String]?
  var windows: [String: Int64]?
  var vary: [Field]?
  var fields: [Field]?

  /// Describes an entry.
  ///
  /// - Parameters:
  ///   - rules: the rules of the server that uses the directory; nil without one.
  ///   - isDetailed: whether to add the fields of the head and the nominated ones, and what the response says of its use.
  init(_ entry: CacheEntry, rules: CacheRules?, now: Timestamp, isDetailed: Bool = false) {
    let (record, response) = (entry.record, entry.record.response)
    let state = EntryFreshness(record, rules: rules, now: now)
    url = record.key.target
    mode = "\(record.key.mode)"
    partition = record.key.partition
    method = response.requestMethod.rawValue
    status = response.head.status.code
    size = entry.size
    bodyLength = record.bodyLength
    bodyPath = entry.bodyPath
    isComplete = record.isComplete
    isSeed = record.isSeed
    freshness = state.text
    isFresh = state.isFresh
    if case .fresh(let left) = state { freshFor = left }
    if case .stale(let since) = state { staleFor = since }
    stored = response.responseTime.seconds
    lastUsed = entry.lastUsed.seconds
    groups = record.groups
    guard isDetailed else { return }
    lifetime = response.facts.freshnessLifetime
    directives = response.facts.directiveTexts
    windows = Dictionary(
      uniqueKeysWithValues: ReuseWindow.allCases.compactMap { window in
        response.facts[window].map { (window.rawValue, $0) }
      })
    vary = response.nominated.map { Field(name: $0.name.rawName, value: $0.value.text) }
    fields = response.head.headerFields.map { Field(name: $0.name.rawName, value: $0.value) }
  }
}

extension NominatedField.Value {
  /// The value to show; a digest of a secret is not shown.
  var text: String {
    switch self {
    case .absent: "(absent)"
    case .text(let text): text
    case .digest: "(secret)"
    }
  }
}
