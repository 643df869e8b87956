/// A regular expression, compiled once, equal to others of its text.
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
    // A program that cannot be made for some expression has to show here and not at a request.
    _ = compiled.isFound(in: "")
  }

  func matches(_ target: String) -> Bool { compiled.isFound(in: target) }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.text == rhs.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }

  private final class Compiled: @unchecked Sendable {
    // A Regex does not change once it is parsed, and stores the program it is lowered to atomically.
    private let regex: Regex<AnyRegexOutput>

    init(_ regex: Regex<AnyRegexOutput>) {
      self.regex = regex.matchingSemantics(.unicodeScalar)
    }

    func isFound(in text: String) -> Bool { text.firstMatch(of: regex) != nil }
  }
}
