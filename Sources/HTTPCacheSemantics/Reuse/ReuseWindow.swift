/// A directive that permits the use of a stale response for some seconds, which are kept with the stored response.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ReuseWindow: String, Sendable, Hashable, CaseIterable {
  /// `stale-while-revalidate`: the stale response is used, and validated meanwhile (RFC 5861 §3).
  case staleWhileRevalidate = "stale-while-revalidate"
  /// `stale-if-error`: the stale response replaces the answer of an origin that failed (RFC 5861 §4).
  case staleIfError = "stale-if-error"

  var section: String {
    switch self {
    case .staleWhileRevalidate: "RFC 5861 §3"
    case .staleIfError: "RFC 5861 §4"
    }
  }

  /// Whether the window counts only when the origin has failed.
  package var isAfterFailure: Bool {
    switch self {
    case .staleWhileRevalidate: false
    case .staleIfError: true
    }
  }

  /// Whether a cache with these rules obeys the directive.
  func isObeyed(by rules: CacheRules) -> Bool {
    switch self {
    case .staleWhileRevalidate: rules.allowsStaleWhileRevalidate
    case .staleIfError: rules.allowsStaleIfError
    }
  }
}

/// The seconds of each `ReuseWindow` of a response; nil for a directive that is absent.
package struct ReuseWindows: Sendable, Hashable {
  private var staleWhileRevalidate: Int64?
  private var staleIfError: Int64?

  package init() {}

  /// Makes windows; those that are not in the dictionary are absent.
  package init(_ seconds: [ReuseWindow: Int64]) {
    for (window, seconds) in seconds { self[window] = seconds }
  }

  package subscript(window: ReuseWindow) -> Int64? {
    get {
      switch window {
      case .staleWhileRevalidate: staleWhileRevalidate
      case .staleIfError: staleIfError
      }
    }
    set {
      switch window {
      case .staleWhileRevalidate: staleWhileRevalidate = newValue
      case .staleIfError: staleIfError = newValue
      }
    }
  }

  /// Whether all windows are absent.
  var isEmpty: Bool { ReuseWindow.allCases.allSatisfy { self[$0] == nil } }

  /// A directive with its seconds; nil if it is absent.
  func text(_ window: ReuseWindow) -> String? { self[window].map { "\(window.rawValue)=\($0)" } }
}
