/// The origin answered with a status other than 2xx, so without the requested content.
public struct UnexpectedStatus: LocalizedError, Sendable, CustomStringConvertible {
  /// The response.
  public let response: HTTPURLResponse

  /// URL and status, for people.
  public var description: String {
    "\(response.url?.withoutSecrets ?? "the origin") answered with status \(response.statusCode)"
  }

  /// URL and status, for people.
  public var errorDescription: String? { description }
}

extension URL {
  /// Scheme, host and path: user information and queries may be secret.
  var withoutSecrets: String {
    var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
    parts?.user = nil
    parts?.password = nil
    parts?.query = nil
    parts?.fragment = nil
    return parts?.string ?? "an invalid URL"
  }
}
