import HTTPCaching
import HTTPTypes

/// A challenge for HTTP Basic (RFC 7617) as delegates see it. Other schemes are the caller's to answer.
enum BasicChallenge {
  /// The question for the delegates; nil if the response does not ask for HTTP Basic.
  static func make(
    _ response: HTTPResponse, to request: HTTPRequest, failures: Int,
    credentials: URLCredentialStorage?
  ) -> URLAuthenticationChallenge? {
    guard let realm = realm(response.headerFields[values: .wwwAuthenticate]),
      let made = try? URLRequest(request), let url = made.url, let host = url.host
    else { return nil }
    let scheme = request.scheme ?? "http"
    let space = URLProtectionSpace(
      host: host, port: url.port ?? (scheme == "https" ? 443 : 80), protocol: scheme,
      realm: realm, authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    return URLAuthenticationChallenge(
      protectionSpace: space,
      proposedCredential: failures == 0 ? credentials?.defaultCredential(for: space) : nil,
      previousFailureCount: failures,
      failureResponse: HTTPURLResponse(
        url: url, statusCode: response.status.code, httpVersion: "HTTP/1.1",
        headerFields: response.headerFields.dictionary),
      error: nil, sender: ChallengeSender())
  }

  /// The realm of the first challenge for Basic; nil without one (RFC 9110 §11.6.1).
  private static func realm(_ values: [String]) -> String? {
    for value in values {
      var rest = value[...]
      while let start = rest.range(of: "basic", options: .caseInsensitive) {
        let before = value[..<start.lowerBound].last { $0 != " " && $0 != "\t" }
        let after = value[start.upperBound...]
        rest = after
        guard before == nil || before == ",", after.first.map({ $0 == " " || $0 == "," }) ?? true
        else { continue }
        return parameter("realm", of: after) ?? ""
      }
    }
    return nil
  }

  /// A parameter of the challenge that begins a text: a token or a quoted string (RFC 9110 §5.6.4).
  private static func parameter(_ name: String, of text: Substring) -> String? {
    guard let start = text.range(of: name + "=", options: .caseInsensitive) else { return nil }
    let value = text[start.upperBound...]
    guard value.first == "\"" else { return String(value.prefix { !", \t".contains($0) }) }
    var result = ""
    var isEscaped = false
    for character in value.dropFirst() {
      if isEscaped {
        result.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        return result
      } else {
        result.append(character)
      }
    }
    return nil
  }
}

/// Foundation's challenges need a sender; delegates answer by completion handlers instead.
private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
  func cancel(_ challenge: URLAuthenticationChallenge) {}
  func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
