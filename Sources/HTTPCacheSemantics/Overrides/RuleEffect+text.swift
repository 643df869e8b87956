import HTTPTypes

extension RuleEffect: CustomStringConvertible {
  /// A few words for people. Equal for equal effects, in every process.
  public var description: String {
    switch self {
    case .lifetime(.exactly(let duration)): "lifetime exactly \(duration.wholeSeconds) s"
    case .lifetime(.atLeast(let duration)): "lifetime at least \(duration.wholeSeconds) s"
    case .lifetime(.atMost(let duration)): "lifetime at most \(duration.wholeSeconds) s"
    case .heuristics(let fraction, let limit):
      "heuristic lifetime \(fraction) of the time since Last-Modified"
        + (limit.map { ", at most \($0.wholeSeconds) s" } ?? "")
    case .window(let window, let duration): "\(window.rawValue) \(duration.wholeSeconds) s"
    case .ignoring(let names): "ignore \(Self.list(names.map(\.rawValue)))"
    case .ignoringVary(let names) where names.isEmpty: "ignore Vary"
    case .ignoringVary(let names): "ignore Vary of \(Self.list(names.map(\.canonicalName)))"
    case .adding(let names): "add \(Self.list(names.map(\.rawValue)))"
    case .cacheControl(let value, whenAbsent: false): "Cache-Control: \(value)"
    case .cacheControl(let value, whenAbsent: true): "Cache-Control: \(value), if the origin sends none"
    case .allowsStaleWhileRevalidate(let isOn): "stale while revalidating: \(Self.onOff(isOn))"
    case .allowsStaleIfError(let isOn): "stale if an error: \(Self.onOff(isOn))"
    case .allowsStaleWhenDisconnected(let isOn): "stale when disconnected: \(Self.onOff(isOn))"
    case .sharingDespite(let names): "share despite \(Self.list(names.map(\.rawValue)))"
    case .stores(let isStored): isStored ? "may be stored" : "never store"
    case .pins(let isPinned): isPinned ? "pin" : "do not pin"
    case .ignoringRequestDirectives: "ignore the request's no-cache, max-age, min-fresh and Pragma"
    case .droppingQuery(let names): "key without query items \(Self.list(names))"
    case .keepingQuery(let names): "key with query items \(Self.list(names)) only"
    case .ignoringQuery: "key without query"
    case .sortingQuery: "key with sorted query"
    case .lowercasingPath: "key with path in lower case"
    case .alias(let name): "key from \(name.canonicalName) of the response"
    }
  }

  /// Whether it is an effect on the key.
  var isOnKey: Bool {
    switch self {
    case .droppingQuery, .keepingQuery, .ignoringQuery, .sortingQuery, .lowercasingPath, .alias: true
    case .lifetime, .heuristics, .window, .ignoring, .ignoringVary, .adding,
      .cacheControl, .allowsStaleWhileRevalidate, .allowsStaleIfError, .allowsStaleWhenDisconnected,
      .sharingDespite, .stores, .pins, .ignoringRequestDirectives:
      false
    }
  }

  /// Whether it is an effect on a response.
  var isOnResponse: Bool { !isOnKey && self != .ignoringRequestDirectives }

  /// Whether it may make a response fresh that would otherwise be stale.
  var isGenerous: Bool {
    switch self {
    case .lifetime(.exactly), .lifetime(.atLeast), .cacheControl: true
    case .lifetime(.atMost), .heuristics, .window, .ignoring, .ignoringVary,
      .adding, .allowsStaleWhileRevalidate, .allowsStaleIfError, .allowsStaleWhenDisconnected,
      .sharingDespite, .stores, .pins, .ignoringRequestDirectives, .droppingQuery, .keepingQuery,
      .ignoringQuery, .sortingQuery, .lowercasingPath, .alias:
      false
    }
  }

  private static func list(_ names: some Sequence<String>) -> String {
    names.sorted().joined(separator: ", ")
  }

  private static func onOff(_ isOn: Bool) -> String { isOn ? "on" : "off" }
}
