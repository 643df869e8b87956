/// A property that an input violates.
public struct PropertyViolation: Error, CustomStringConvertible {
  /// The property, and the value that violates it.
  public let description: String
}

/// Throws with the text unless the condition holds.
func require(
  _ condition: Bool, _ text: @autoclosure () -> String
) throws(PropertyViolation) {
  guard condition else { throw PropertyViolation(description: text()) }
}
