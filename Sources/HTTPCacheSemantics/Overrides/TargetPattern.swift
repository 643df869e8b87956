public import HTTPTypes

/// Which requests are meant: by their normalised target URI, or by a predicate.
///
/// Targets are compared as `CacheKey.target(of:)` makes them: scheme and host in lower case, without
/// default port, fragment and user information. Path and query count with their letter case.
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
  /// - Parameter host: `example.com` for that host alone, `*.example.com` for every host below it but
  ///   not itself; with `:8080` for that port only, else for every port. Letter case is no matter.
  /// - Throws: for what is no host.
  public static func host(_ host: String) throws(TargetPatternError) -> TargetPattern {
    TargetPattern(kind: .host(try HostPattern(host)))
  }

  /// Targets that begin with a URL.
  ///
  /// - Parameter url: an absolute `http` or `https` URL with a complete host: that of
  ///   `https://example.com` begins no target on `example.com.evil`.
  /// - Throws: for what is no such URL.
  public static func prefix(_ url: String) throws(TargetPatternError) -> TargetPattern {
    guard let normal = TargetURI.key(url) else {
      throw TargetPatternError(url, "not an absolute http or https URL")
    }
    return TargetPattern(kind: .prefix(normal))
  }

  /// Targets that have a form, such as `https://*.example.com/images/**` or `/**/*.png`.
  ///
  /// `*` is any number of octets within a segment of the path, or within the host; `**` is any number
  /// of any octets. Everything else stands for itself, `?` too. A form that begins with `/` is
  /// compared with path and query on any origin, any other one with the whole target. One without `?`
  /// says nothing of the query. Letter case counts, save in scheme and host.
  ///
  /// The time a comparison takes grows with the length of the target only.
  ///
  /// - Parameter form: at most 1,024 octets.
  /// - Throws: for a form that is too long, or begins with neither `/`, `*`, `http://` nor `https://`.
  public static func glob(_ form: String) throws(TargetPatternError) -> TargetPattern {
    TargetPattern(kind: .glob(try GlobPattern(form)))
  }

  /// Targets in which a regular expression is found, in the syntax of Swift's `Regex`. `^` and `$`
  /// stand for both ends; letter case counts unless the expression begins with `(?i)`.
  ///
  /// Expressions can be slow on targets made for it, and are slower than every other kind of pattern:
  /// where anybody may send requests, use `glob`.
  ///
  /// - Throws: for what is no regular expression.
  public static func expression(_ text: String) throws(TargetPatternError) -> TargetPattern {
    TargetPattern(kind: .expression(try ExpressionPattern(text)))
  }

  /// Requests for which a predicate holds.
  ///
  /// - Parameters:
  ///   - name: tells it from others: predicates of one name are equal, in this process and in what is
  ///     stored. Give a predicate that decides otherwise another name.
  ///   - predicate: is asked for each request, so it has to be fast. It must answer the same for the
  ///     same request.
  public static func matching(
    _ name: String, _ predicate: @escaping @Sendable (HTTPRequest) -> Bool
  ) -> TargetPattern {
    TargetPattern(kind: .predicate(NamedPredicate(name: name, holds: predicate)))
  }

  /// The pattern as it was given.
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

  /// Whether a request is meant. A request without a valid target is none.
  public func matches(_ request: HTTPRequest) -> Bool {
    guard let target = CacheKey.target(of: request) else { return false }
    return matches(request, target: target)
  }

  /// The same where the normalised target of the request is known.
  package func matches(_ request: HTTPRequest, target: String) -> Bool {
    if case .predicate(let predicate) = kind { return predicate.holds(request) }
    return matches(target: target)
  }

  /// Whether a normalised target is meant; a predicate, which needs a request, is taken as true.
  func matches(target: String) -> Bool {
    var octets = target
    switch kind {
    case .any, .predicate: return true
    case .host(let host): return octets.withUTF8 { host.matches($0) }
    case .prefix(let prefix): return target.utf8.starts(with: prefix.utf8)
    case .glob(let glob): return octets.withUTF8 { glob.matches($0) }
    case .expression(let expression): return expression.matches(target)
    }
  }

  /// Whether it depends on more of the request than its target.
  var needsRequest: Bool { if case .predicate = kind { true } else { false } }
}
