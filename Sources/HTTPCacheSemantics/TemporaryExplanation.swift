/// Temporary stand-in.
public struct CacheExplanation: Sendable, CustomStringConvertible {
  public struct Step: Sendable {
    public var question: String
    public var answer: String
    public var section: String
  }
  public var steps: [Step]
  public var decision: ReuseDecision?
  public static let none = CacheExplanation(steps: [], decision: nil)
  public var description: String { steps.map { "\($0.question) \($0.answer)" }.joined(separator: "\n") }
}
public enum TargetURI {
  public static func normalized(_ uri: String) -> String? { uri.contains("://") ? uri : nil }
  public static func origin(of uri: String) -> String? { uri }
}
public enum Age {
  public static func current(_ stored: StoredResponse, now: Timestamp) -> Int64 {
    stored.facts.correctedInitialAge + max(0, now - stored.responseTime)
  }
}
