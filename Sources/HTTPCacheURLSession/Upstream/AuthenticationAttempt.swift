/// The consequence of a delegate's answer to a challenge.
///
/// On Linux Foundation never ends a task whose challenge gets default handling, and crashes for every scheme
/// but Basic. So credentials are added here.
enum AuthenticationAttempt {
  case leaveToFoundation
  /// Send the request again with this `Authorization`.
  case retry(String)
  /// The response with the challenge is the answer.
  case accept
  case cancel

  /// The consequence of an answer to a challenge for HTTP Basic.
  ///
  /// - Parameter proposed: the stored credential; nil without one, or if the origin has refused it.
  init(
    basic disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?,
    proposed: URLCredential?
  ) {
    switch disposition {
    case .useCredential: self = Self.basic(credential)
    case .performDefaultHandling: self = Self.basic(proposed)
    case .rejectProtectionSpace: self = .accept
    case .cancelAuthenticationChallenge: self = .cancel
    @unknown default: self = .cancel
    }
  }

  /// The credentials as in RFC 7617 §2.
  private static func basic(_ credential: URLCredential?) -> AuthenticationAttempt {
    guard let credential, let user = credential.user, !user.contains(":") else { return .accept }
    let pair = Data("\(user):\(credential.password ?? "")".utf8)
    return .retry("Basic " + pair.base64EncodedString())
  }

  init(
    _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?,
    challenge: URLAuthenticationChallenge, failures: Int
  ) {
    #if canImport(FoundationNetworking)
      let isBasic =
        challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
      let proposed = failures == 0 ? challenge.proposedCredential : nil
      self.init(
        basic: disposition, isBasic ? credential : nil, proposed: isBasic ? proposed : nil)
    #else
      self = .leaveToFoundation
    #endif
  }

  /// The challenge with the number of earlier failures: for Foundation on Linux, each attempt was a separate task.
  static func challenge(
    _ challenge: URLAuthenticationChallenge, failures: Int
  ) -> URLAuthenticationChallenge {
    #if canImport(FoundationNetworking)
      guard failures > 0, let sender = challenge.sender else { return challenge }
      return URLAuthenticationChallenge(
        protectionSpace: challenge.protectionSpace, proposedCredential: nil,
        previousFailureCount: failures, failureResponse: challenge.failureResponse,
        error: challenge.error, sender: sender)
    #else
      return challenge
    #endif
  }
}
