extension StorageRefusal {
  /// A few words for people.
  public var description: String { "" }
  /// The section.
  public var section: String { "" }
}
extension StaleAllowance {
  /// A few words for people.
  public var description: String { "" }
  /// The section.
  public var section: String { "" }
}
extension ValidationReason {
  /// A few words for people.
  public var description: String { "" }
  /// The section.
  public var section: String { "" }
}
extension MissReason {
  /// A few words for people.
  public var description: String { "" }
  /// The section.
  public var section: String { "" }
}
extension UnsatisfiableReason {
  /// A few words for people.
  public var description: String { "" }
  /// The section.
  public var section: String { "" }
}
