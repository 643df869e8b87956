import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes

/// A request to remove responses, or to validate them before their next use.
struct PurgeRequest: Sendable {
  enum Kind {
    /// The responses of the target, or of the groups that the request names.
    case purge
    /// All responses whose URLs begin with the target.
    case ban

    init?(_ method: HTTPRequest.Method) {
      switch method.rawValue {
      case "PURGE": self = .purge
      case "BAN": self = .ban
      default: return nil
      }
    }
  }

  private static let softName = HTTPField.Name("Soft-Purge")

  let selections: [CacheSelection]
  /// Whether responses are kept, and validated before their next use.
  let isSoft: Bool

  /// Reads a request.
  ///
  /// - Throws: `Refusal` if it cannot be a purge.
  init(_ kind: Kind, head: RequestHead, route: Route) throws(Refusal) {
    guard case .cached(let request) = route, let target = CacheKey.target(of: request.head) else {
      throw Refusal(.badRequest, "not the target of stored responses", label: .purge)
    }
    let soft = Self.softName.flatMap { head.fields[$0] }
    guard soft == nil || soft == "1" else {
      throw Refusal(.badRequest, "Soft-Purge must be 1", label: .purge)
    }
    isSoft = soft != nil
    let groups = GroupTags.names(in: head.fields)
    switch kind {
    case .ban: selections = [.prefix(target)]
    case .purge where groups.isEmpty: selections = [.target(target)]
    case .purge:
      let origin = TargetURI.origin(of: target) ?? target
      selections = groups.map { .group(origin: origin, name: $0) }
    }
  }
}
