public import HTTPTypes

/// The parts of a request that must be equal for a recorded response to answer it, beside method and target.
public struct ReplayMatching: Sendable, Hashable {
  /// Names of fields.
  public var fields: [HTTPField.Name]
  /// Whether the content must be equal.
  public var comparesContent: Bool

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - fields: names of fields that must be equal; a field that is missing in both is equal.
  ///   - comparesContent: whether the content must be equal, byte by byte.
  public init(fields: [HTTPField.Name] = [], comparesContent: Bool = true) {
    self.fields = fields
    self.comparesContent = comparesContent
  }
}
