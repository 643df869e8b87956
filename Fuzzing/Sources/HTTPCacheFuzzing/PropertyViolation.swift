/// Something that must hold for every input, and did not for one.
public struct PropertyViolation: Error, CustomStringConvertible {
  /// What must hold, and what was there instead.
  public let description: String
}

/// Throws with the text unless the condition holds.
func require(
  _ condition: Bool, _ text: @autoclosure () -> String
) throws(PropertyViolation) {
  guard condition else { throw PropertyViolation(description: text()) }
}
