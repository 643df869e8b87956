/// Why a request went to the origin and the stored response was not used.
public enum ForwardReason: Reason, Hashable {
  /// Nothing usable was stored.
  case miss(MissReason)
  /// The stored response had to be validated, and the origin sent a new response.
  case validation(ValidationReason)

  /// A sentence for people.
  public var description: String {
    switch self {
    case .miss(let reason): reason.description
    case .validation(let reason): reason.description
    }
  }

  /// The section of the reason.
  public var section: String {
    switch self {
    case .miss(let reason): reason.section
    case .validation(let reason): reason.section
    }
  }
}
