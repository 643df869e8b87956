public import HTTPCacheSemantics
public import HTTPTypes

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
