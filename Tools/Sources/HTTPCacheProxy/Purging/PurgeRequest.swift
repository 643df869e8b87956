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
  /// - Throws: `Refusal` if it cannot be a purge, `ProtocolViolation` for a request that contradicts itself.
  init(_ kind: Kind, head: RequestHead, framing: Framing, routing: Routing) throws {
    let soft = Self.softName.flatMap { head.fields[$0] }
    guard soft == nil || soft == "1" else {
      throw Refusal(.badRequest, "Soft-Purge must be 1", label: .purge)
    }
    isSoft = soft != nil
    let groups = try Self.groups(in: head.fields)
    switch kind {
    case .ban: selections = try Self.prefixes(of: head, framing, routing).map { .prefix($0) }
    case .purge where groups.isEmpty:
      selections = [.target(try Self.target(of: head, framing, routing))]
    case .purge:
      let target = try Self.target(of: head, framing, routing)
      let origin = TargetURI.origin(of: target) ?? target
      selections = groups.map { .group(origin: origin, name: $0) }
    }
  }

  /// The groups that a request names; empty for a request without `Surrogate-Key` and `Cache-Tag`.
  private static func groups(in fields: HTTPFields) throws(Refusal) -> [String] {
    guard GroupTags.areIn(fields) else { return [] }
    guard let names = GroupTags.names(in: fields), !names.isEmpty else {
      throw Refusal(.badRequest, "Surrogate-Key and Cache-Tag must have names in ASCII", label: .purge)
    }
    return names
  }

  /// The target under which responses to a request for the same URL are stored.
  private static func target(
    of head: RequestHead, _ framing: Framing, _ routing: Routing
  ) throws -> String {
    guard case .cached(let request) = try routing.route(head, framing: framing),
      let target = CacheKey.target(of: request.head)
    else { throw Refusal(.badRequest, "not the target of stored responses", label: .purge) }
    return target
  }

  /// The prefixes of the targets under which responses to URLs are stored that begin with the target of a request.
  private static func prefixes(
    of head: RequestHead, _ framing: Framing, _ routing: Routing
  ) throws -> [String] {
    guard case .gateway(let routes) = routing.mode else { return [try target(of: head, framing, routing)] }
    let origin: String
    let path: String
    switch try RequestTarget(head.target, method: head.method) {
    case .origin(let given): (origin, path) = ("", given)
    case .absolute(let named, let given): (origin, path) = ("\(named)", given)
    case .authority, .asterisk: return [try target(of: head, framing, routing)]
    }
    let prefixes = try StoredPlace.prefixes(of: path, in: routes) { path in
      do {
        return try target(of: head.with(target: origin + path), framing, routing)
      } catch let refusal as Refusal where refusal.label == .noRoute { return nil }
    }
    // A path that no route serves, and no route begins with, is refused as a request for that path is.
    return prefixes.isEmpty ? [try target(of: head, framing, routing)] : prefixes
  }
}
