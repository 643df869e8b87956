/// A finding about the encryption of a directory, made when it was opened.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum EncryptionNotice: Sendable, Hashable, CustomStringConvertible {
  /// Responses were encrypted with another key, or a key is needed and none was given. They are not found, and
  /// stay until they are evicted. At most 10,000 are counted.
  case otherKey(responses: Int)
  /// Responses were stored in plain text. They were removed, and their bytes in the index were overwritten.
  case removedPlain(responses: Int)

  /// The notice as a sentence.
  public var description: String {
    switch self {
    case .otherKey(let count):
      "\(Self.text(count)) \(count == 1 ? "is" : "are") in the directory encrypted with another key; with this one, or with none, they are not found"
    case .removedPlain(let count):
      "\(Self.text(count)) lay in the directory unencrypted and \(count == 1 ? "was" : "were") removed"
    }
  }

  private static func text(_ count: Int) -> String {
    switch count {
    case 1: "1 response"
    case 10_000...: "10000 responses or more"
    default: "\(count) responses"
    }
  }
}
