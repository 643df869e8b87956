/// A regular expression, compiled once. Patterns with equal text are equal.
struct ExpressionPattern: Sendable, Hashable {
  let text: String
  private let compiled: Compiled

  init(_ text: String) throws(TargetPatternError) {
    self.text = text
    do {
      compiled = Compiled(try Regex(text))
    } catch {
      throw TargetPatternError(text, "\(error)")
    }
    // Run it once, so that an expression that cannot be compiled fails here and not during a request.
    _ = "".firstMatch(of: compiled.regex)
  }

  func matches(_ target: String) -> Bool { target.firstMatch(of: compiled.regex) != nil }

  /// Whether the expression is found in a form of a normalised target, ignoring letter case.
  ///
  /// - Parameter path: the index of the target's path.
  func covers(_ target: Octets, path: Int) -> Bool {
    TargetForm.any(of: target, pathStart: path) {
      String(decoding: $0, as: UTF8.self).firstMatch(of: compiled.ignoringCase) != nil
    }
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.text == rhs.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }

  private final class Compiled: @unchecked Sendable {
    // A Regex does not change after parsing, and stores its compiled program atomically.
    let regex: Regex<AnyRegexOutput>
    let ignoringCase: Regex<AnyRegexOutput>

    init(_ regex: Regex<AnyRegexOutput>) {
      self.regex = regex.matchingSemantics(.unicodeScalar)
      ignoringCase = self.regex.ignoresCase()
    }
  }
}
