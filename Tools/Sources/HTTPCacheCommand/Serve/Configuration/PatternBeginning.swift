/// The literal text with which a pattern of an override begins.
struct PatternBeginning {
  /// The part of a target with which the pattern is compared.
  enum Part {
    case path, host, target
  }

  let part: Part
  /// In ASCII and lower case.
  let text: String

  /// - Parameter pattern: a glob, or a host with `host:` before.
  init(_ pattern: String) {
    part = pattern.hasPrefix("/") ? .path : pattern.hasPrefix("host:") ? .host : .target
    // An escape may stand for a literal character, and most patterns ignore the query.
    let literal = pattern.prefix { $0.isASCII && !"*%?".contains($0) }
    // `/a/**` may match `/a`.
    text = (literal.hasSuffix("/") ? literal.dropLast() : literal).lowercased()
  }
}
