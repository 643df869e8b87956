public import HTTPTypes

/// Why no stored response could be used.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum MissReason: Reason, Hashable {
  /// Nothing is stored for the key.
  case absent
  /// Responses are stored, but for other values of the nominated fields (§4.1).
  case variantMismatch([HTTPField.Name])
  /// The method cannot be answered from the store (§4).
  case method(HTTPRequest.Method)
  /// The request's policy forbids it.
  case policy(CachePolicy)
  /// The request has a precondition that only the origin can evaluate (RFC 9110 §13.1.1, §13.1.4).
  case precondition(HTTPField.Name)
  /// The content of a QUERY cannot be part of a key (RFC 10008 §2.7).
  case content(ContentObstacle)
  /// The stored octets do not include the part that the request asks for (§3.3).
  case partial
  /// The store could not be read; an event tells why.
  case storeFailed
}

extension MissReason {
  /// A few words for people.
  public var description: String {
    switch self {
    case .absent: "nothing stored"
    case .variantMismatch(let names):
      "stored for other values of \(names.map(\.rawName).joined(separator: ", "))"
    case .method(let method): "\(method) is not answered from the store"
    case .policy(let policy): "policy \(policy.name)"
    case .precondition(let name): "\(name) is for the origin"
    case .content(let obstacle): obstacle.description
    case .partial: "only a part is stored, and not all that is asked for"
    case .storeFailed: "the store failed"
    }
  }

  /// The section.
  public var section: String {
    switch self {
    case .absent, .method: "RFC 9111 §4"
    case .variantMismatch: "RFC 9111 §4.1"
    case .precondition: "RFC 9111 §4.3.2"
    case .content(let obstacle): obstacle.section
    case .partial: "RFC 9111 §3.3"
    case .policy, .storeFailed: ""
    }
  }
}

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

/// The reason of a decision: a sentence for people, and the section of the rule.
public protocol Reason: Sendable, CustomStringConvertible {
  /// The section, such as `RFC 9111 §5.2.2.5`; empty if no specification decided, but a setting or the store.
  var section: String { get }
}
