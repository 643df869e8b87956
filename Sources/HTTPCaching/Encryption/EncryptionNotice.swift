/// What was found about encryption when a directory was opened.
public enum EncryptionNotice: Sendable, Hashable, CustomStringConvertible {
  /// Responses there were encrypted with another key, or one is needed and none was given. They are not
  /// found, and are left until they are evicted. At most 10,000 are counted.
  case otherKey(responses: Int)
  /// Responses lay there in the clear. They were removed for good, with all that SQLite had kept of them.
  case removedPlain(responses: Int)

  /// A sentence.
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
