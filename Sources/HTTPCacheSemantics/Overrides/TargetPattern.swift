public import HTTPTypes

/// Selects requests by their normalised target URI, or by a predicate.
///
/// Targets are compared in the form of `CacheKey.target(of:)`: scheme and host in lower case, without default
/// port, fragment and user information. Path and query are case-sensitive.
public struct TargetPattern: Sendable, Hashable, CustomStringConvertible {
  enum Kind: Sendable, Hashable {
    case any
    case host(HostPattern)
    case prefix(String)
    case glob(GlobPattern)
    case expression(ExpressionPattern)
    case predicate(NamedPredicate)
  }

  let kind: Kind

  /// Every request.
  public static let any = TargetPattern(kind: .any)

  /// Requests to a host.
  ///
  /// - Parameter host: `example.com` for that host alone, `*.example.com` for every host below it but not
  ///   itself; with `:8080` for that port only, otherwise for every port. Letter case is ignored.
  /// - Throws: `TargetPatternError` for text that is not a host.
  public static func host(_ host: String) throws(TargetPatternError) -> TargetPattern {
    TargetPattern(kind: .host(try HostPattern(host)))
  }

  /// Targets that begin with a URL.
  ///
  /// - Parameter url: an absolute `http` or `https` URL with a complete host: `https://example.com` does not match
  ///   targets on `example.com.evil`.
  /// - Throws: `TargetPatternError` for text that is not such a URL.
  public static func prefix(_ url: String) throws(TargetPatternError) -> TargetPattern {
    guard let normal = TargetURI.normalized(url) else {
      throw TargetPatternError(url, "not an absolute http or https URL")
    }
    return TargetPattern(kind: .prefix(normal))
  }

  /// Targets that match a pattern, such as `https://*.example.com/images/**` or `/**/*.png`.
  ///
  /// `*` matches any number of octets within a segment of the path, or within the host; `**` matches any
  /// number of any octets. A `**` that is a whole segment matches zero or more segments, as in a shell:
  /// `/**/private/**` matches `/private/x`. Every other character matches itself, including `?`. A pattern that begins with
  /// `/` is compared with path and query on any origin, any other pattern with the whole target. A pattern
  /// without `?` ignores the query. Letter case counts, except in scheme and host.
  ///
  /// The time of a comparison is proportional to the length of the target.
  ///
  /// - Parameter form: at most 1,024 octets.
  /// - Throws: `TargetPatternError` for a pattern that is too long, or begins with neither `/`, `*`, `http://` nor
  ///   `https://`.
  public static func glob(_ form: String) throws(TargetPatternError) -> TargetPattern {
    TargetPattern(kind: .glob(try GlobPattern(form)))
  }

  /// Targets that contain a match of a regular expression, in the syntax of Swift's `Regex`. `^` and `$`
  /// match both ends; letter case counts unless the expression begins with `(?i)`.
  ///
  /// An attacker can choose targets that make an expression slow, and expressions are slower than all other
  /// patterns. Use `glob` if untrusted clients send requests.
  ///
  /// - Throws: `TargetPatternError` for text that is not a regular expression.
  public static func expression(_ text: String) throws(TargetPatternError) -> TargetPattern {
    TargetPattern(kind: .expression(try ExpressionPattern(text)))
  }

  /// Requests for which a predicate holds.
  ///
  /// - Parameters:
  ///   - name: identifies the predicate: predicates with equal names are equal, in this process and in stored
  ///     records. Give a changed predicate a new name.
  ///   - predicate: called for each request, so it must be fast. It must always return the same result for
  ///     equal requests.
  public static func matching(
    _ name: String, _ predicate: @escaping @Sendable (HTTPRequest) -> Bool
  ) -> TargetPattern {
    TargetPattern(kind: .predicate(NamedPredicate(name: name, holds: predicate)))
  }

  /// The pattern as text.
  public var description: String {
    switch kind {
    case .any: "any target"
    case .host(let host): "host \(host.text)"
    case .prefix(let prefix): "prefix \(prefix)"
    case .glob(let glob): "glob \(glob.text)"
    case .expression(let expression): "expression \(expression.text)"
    case .predicate(let predicate): "predicate \(predicate.name)"
    }
  }

  /// Whether the pattern matches a request. A request without a valid target never matches.
  public func matches(_ request: HTTPRequest) -> Bool {
    guard let target = CacheKey.target(of: request) else { return false }
    return matches(request, target: target)
  }

  /// Like `matches(_:)`, with the known normalised target of the request.
  package func matches(_ request: HTTPRequest, target: String) -> Bool {
    if case .predicate(let predicate) = kind { return predicate.holds(request) }
    return matches(target: target)
  }

  /// Whether a normalised target matches; true for a predicate, which needs a request.
  func matches(target: String) -> Bool {
    var octets = target
    switch kind {
    case .any, .predicate: return true
    case .host(let host): return octets.withUTF8 { host.matches($0) }
    case .prefix(let prefix): return target.utf8.starts(with: prefix.utf8)
    case .glob(let glob):
      return octets.withUTF8 { glob.matches($0, path: TargetReading.pathStart($0) ?? $0.count) }
    case .expression(let expression): return expression.matches(target)
    }
  }

  /// Whether the pattern matches a request, or a path that an origin may read instead of the requested one
  /// (`PathReadings`). For patterns that restrict.
  public func mayMatch(_ request: HTTPRequest) -> Bool {
    guard let target = CacheKey.target(of: request) else { return false }
    if matches(request, target: target) { return true }
    guard let readings = TargetReading.all(of: request, target: target) else { return true }
    return readings.contains { $0.isCovered(by: self) }
  }

  /// Whether the pattern matches a request and each path that an origin may read instead of the requested one
  /// (`PathReadings`). For patterns that permit.
  public func surelyMatches(_ request: HTTPRequest) -> Bool {
    guard let target = CacheKey.target(of: request), matches(request, target: target) else { return false }
    return TargetReading.all(of: request, target: target)?.allSatisfy {
      $0.request == nil || $0.isCovered(by: self)
    }
      ?? false
  }

  /// Whether the pattern matches a target as an origin may look it up: without letter case, and in each `TargetForm`.
  ///
  /// - Parameters:
  ///   - target: a reading of the target of a request, in the form of a normalised target.
  ///   - path: the index of its path.
  ///   - request: the request for the reading; nil if the pattern was compared with the request already.
  func covers(_ target: Octets, path: Int, _ request: HTTPRequest?) -> Bool {
    switch kind {
    case .any: true
    case .predicate(let predicate): request.map(predicate.holds) ?? false
    case .host(let host): host.matches(target)
    case .prefix(var prefix): prefix.withUTF8 { Self.begins(target, with: $0) }
    case .glob(let glob): glob.covers(target, path: path)
    case .expression(let expression): expression.covers(target, path: path)
    }
  }

  /// How a pattern matches a target.
  enum Match { case exact, covered, none }

  /// How the pattern matches the target of a request: as it is, or only as an origin may look it up (`covers`).
  ///
  /// A cheap test that holds for every match comes first, so that most patterns are compared once.
  ///
  /// - Parameters:
  ///   - target: the normalised target of the request.
  ///   - octets: those of the target.
  ///   - path: the index of the path in them.
  func match(_ request: HTTPRequest, target: String, _ octets: Octets, path: Int) -> Match {
    switch kind {
    case .any: return .exact
    case .predicate(let predicate): return predicate.holds(request) ? .exact : .none
    // A host is looked up as it is; `TargetReading` has the host without a dot at its end.
    case .host(let host): return host.matches(octets) ? .exact : .none
    case .prefix(var prefix):
      return prefix.withUTF8 { prefix in
        guard Self.begins(octets, with: prefix) else { return .none }
        return octets.starts(with: prefix) ? .exact : .covered
      }
    case .glob(let glob):
      guard glob.mayCover(octets, path: path) else { return .none }
      return glob.matches(octets, path: path) ? .exact : glob.covers(octets, path: path) ? .covered : .none
    case .expression(let expression):
      return expression.matches(target) ? .exact : expression.covers(octets, path: path) ? .covered : .none
    }
  }

  /// Whether a target, or the target with a slash at the end of its path, begins with a prefix in any letter case.
  private static func begins(_ target: Octets, with prefix: Octets) -> Bool {
    for index in 0..<prefix.count {
      if index < target.count, target[index].lowercased == prefix[index].lowercased { continue }
      let isPathEnd = index == target.count || target[index] == UInt8(ascii: "?")
      return isPathEnd && index == prefix.count - 1 && prefix[index] == UInt8(ascii: "/")
    }
    return true
  }

  /// Whether it depends on more than the target of the request.
  var needsRequest: Bool { if case .predicate = kind { true } else { false } }
}

/// A predicate over requests. Predicates with equal names are equal.
struct NamedPredicate: Sendable, Hashable {
  let name: String
  let holds: @Sendable (HTTPRequest) -> Bool

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Why a text is not a valid pattern for targets.
public struct TargetPatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text.
  public let pattern: String
  /// The error, in a few words.
  public let reason: String

  /// Makes an error.
  public init(_ pattern: String, _ reason: String) {
    self.pattern = pattern
    self.reason = reason
  }

  /// The text and what is wrong with it.
  public var description: String { "'\(pattern)' is no pattern: \(reason)" }
}
