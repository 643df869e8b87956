public import HTTPCacheSemantics
public import HTTPTypes

/// Decides last whether and how a response is stored. The cache calls it for each response that may be stored,
/// before the body arrives, and for each stored response that is about to get new fields.
///
/// The hook returns the proposal unchanged, a changed one, or nil, which keeps the response from being
/// stored. If it throws, or takes longer than a second, the response is not stored either, because a hook
/// often protects secrets. The hook never changes the caller's answer. A stored response that a hook refuses
/// to freshen is removed.
///
/// Followers get the response as it is stored.
public struct StoringHook: Sendable {
  /// The longest time that a hook may take.
  public static var timeLimit: Duration { .seconds(1) }

  enum Decision: Sendable {
    case immediate(@Sendable (HTTPRequest, ProposedRecord) -> ProposedRecord?)
    case asynchronous(@Sendable (HTTPRequest, ProposedRecord) async throws -> ProposedRecord?)
  }

  let decision: Decision
  /// Fields that are stripped from trailers as well.
  let strippedNames: Set<HTTPField.Name>

  init(_ decision: Decision, strippedNames: Set<HTTPField.Name> = []) {
    self.decision = decision
    self.strippedNames = strippedNames
  }

  /// Makes a hook.
  ///
  /// - Parameter decide: takes the request and the proposal; returns what to store, or nil.
  public init(
    _ decide: @escaping @Sendable (HTTPRequest, ProposedRecord) async throws -> ProposedRecord?
  ) {
    self.init(.asynchronous(decide))
  }

  /// A hook that asks this one and then, unless it returned nil, asks `other` with its result. Both together
  /// have one second.
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

extension StoringHook {
  /// Asks the hook, within its time limit. A hook that takes longer is cancelled and no longer waited for.
  ///
  /// - Throws: `HookFailure`.
  func ask(
    _ request: HTTPRequest, about proposal: ProposedRecord, turn: HookTurn
  ) async throws(HookFailure) -> ProposedRecord? {
    if case .immediate(let decide) = decision { return decide(request, proposal) }
    let answer = OneShot<Result<ProposedRecord?, HookFailure>>()
    let work = Task(executorPreference: turn.executor) { [decision] in
      do { answer.give(.success(try await decision(request, proposal))) } catch {
        answer.give(.failure(.threw(error)))
      }
    }
    let timer = Task(executorPreference: turn.executor) {
      try? await turn.wait(Self.timeLimit)
      answer.give(.failure(.timedOut(Self.timeLimit)))
    }
    defer {
      timer.cancel()
      work.cancel()
    }
    return try await answer.take().get()
  }
}

/// Why a `StoringHook` gave no decision.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum HookFailure: Error, Sendable, CustomStringConvertible {
  /// It threw.
  case threw(any Error)
  /// It did not return in time.
  case timedOut(Duration)

  /// A few words for people.
  public var description: String {
    switch self {
    case .threw(let error): "threw \(error)"
    case .timedOut(let limit): "did not return within \(limit)"
    }
  }
}

extension StoringHook {
  /// Stores responses without the fields that carry authentication: `Set-Cookie`,
  /// `Authentication-Info`, `Proxy-Authentication-Info`, `WWW-Authenticate` and `Proxy-Authenticate`, and without
  /// credentials that an origin repeats: `Authorization`, `Proxy-Authorization` and `Cookie`.
  public static var strippingAuthentication: StoringHook { strippingAuthentication(and: []) }

  /// Like `strippingAuthentication`, and also strips other fields that carry secrets, such as `X-Auth-Token`.
  public static func strippingAuthentication(and others: [HTTPField.Name]) -> StoringHook {
    stripping(authenticationNames + others)
  }

  /// Stores responses without these fields.
  public static func stripping(_ names: [HTTPField.Name]) -> StoringHook {
    let names = Set(names)
    return StoringHook(
      .immediate { _, proposal in
        guard proposal.head.headerFields.contains(where: { names.contains($0.name) }) else {
          return proposal
        }
        var proposal = proposal
        proposal.head.headerFields.removeAll { names.contains($0.name) }
        return proposal
      }, strippedNames: names)
  }

  /// Keeps responses to https requests in memory only.
  public static var secureInMemoryOnly: StoringHook {
    StoringHook(
      .immediate { request, proposal in
        guard request.scheme?.lowercased() == "https", proposal.storagePolicy == .allowed else {
          return proposal
        }
        var proposal = proposal
        proposal.storagePolicy = .allowedInMemoryOnly
        return proposal
      })
  }

  /// Stores only responses for which a condition holds.
  public static func storing(
    where condition: @escaping @Sendable (HTTPRequest, HTTPResponse) -> Bool
  ) -> StoringHook {
    StoringHook(
      .immediate { request, proposal in condition(request, proposal.head) ? proposal : nil })
  }

  /// Stores only responses for which a condition does not hold.
  public static func notStoring(
    where condition: @escaping @Sendable (HTTPRequest, HTTPResponse) -> Bool
  ) -> StoringHook {
    storing { !condition($0, $1) }
  }

  /// Stores only responses to requests that match at least one pattern, however an origin reads their paths
  /// (`TargetPattern.surelyMatches`).
  public static func storing(matching patterns: TargetPattern...) -> StoringHook {
    storing { request, _ in patterns.contains { $0.surelyMatches(request) } }
  }

  /// Stores only responses to requests that match none of the patterns, however an origin reads their paths
  /// (`TargetPattern.mayMatch`).
  public static func notStoring(matching patterns: TargetPattern...) -> StoringHook {
    storing { request, _ in !patterns.contains { $0.mayMatch(request) } }
  }

  private static let authenticationNames: [HTTPField.Name] =
    [.setCookie, .wwwAuthenticate, .proxyAuthenticate, .authenticationInfo]
    + [.proxyAuthenticationInfo, .authorization, .proxyAuthorization, .cookie]
}
