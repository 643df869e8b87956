public import HTTPTypes

/// Has the last word on what is stored: sees each response that may be stored, before its body
/// arrives, and each stored one that is about to get new fields.
///
/// It returns the proposal as it is, nil to keep the response from being stored, or a changed one. If it
/// throws, or takes longer than a second, the response is not stored either: a hook often protects
/// something. The caller's answer is the same in any case. A stored response that a hook refuses to
/// freshen is removed.
///
/// Requests that wait for another's response get it as it is stored.
public struct StoringHook: Sendable {
  /// The most time that a hook has.
  public static var timeLimit: Duration { .seconds(1) }

  enum Decision: Sendable {
    case immediate(@Sendable (HTTPRequest, ProposedRecord) -> ProposedRecord?)
    case asynchronous(@Sendable (HTTPRequest, ProposedRecord) async throws -> ProposedRecord?)
  }

  let decision: Decision
  /// Fields that are to be stripped from trailers as well.
  let strippedNames: Set<HTTPField.Name>

  init(_ decision: Decision, strippedNames: Set<HTTPField.Name> = []) {
    self.decision = decision
    self.strippedNames = strippedNames
  }

  /// Makes a hook.
  ///
  /// - Parameter decide: is given the request and the proposal; returns what is to be stored, or nil.
  public init(
    _ decide: @escaping @Sendable (HTTPRequest, ProposedRecord) async throws -> ProposedRecord?
  ) {
    self.init(.asynchronous(decide))
  }

  /// A hook that asks this one and then, unless it returned nil, another one with what this one
  /// returned. Both together have one second.
  public func then(_ other: StoringHook) -> StoringHook {
    let names = strippedNames.union(other.strippedNames)
    if case .immediate(let first) = decision, case .immediate(let second) = other.decision {
      return StoringHook(
        .immediate { request, proposal in
          first(request, proposal).flatMap { second(request, $0) }
        }, strippedNames: names)
    }
    let (first, second) = (decision, other.decision)
    return StoringHook(
      .asynchronous { request, proposal in
        guard let changed = try await first(request, proposal) else { return nil }
        return try await second(request, changed)
      }, strippedNames: names)
  }
}

extension StoringHook.Decision {
  func callAsFunction(
    _ request: HTTPRequest, _ proposal: ProposedRecord
  ) async throws -> ProposedRecord? {
    switch self {
    case .immediate(let decide): decide(request, proposal)
    case .asynchronous(let decide): try await decide(request, proposal)
    }
  }
}
