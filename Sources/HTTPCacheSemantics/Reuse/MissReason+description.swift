import HTTPTypes

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
