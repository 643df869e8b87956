import Foundation
public import HTTPTypes

/// Secrets that a recording does not keep.
public struct RecordingSecrets: Sendable, Hashable {
  /// Fields of requests and responses that are left out.
  public var fields: Set<HTTPField.Name>
  /// Parameters of queries, whose values become `removed`, also in the requests that are looked up.
  public var queryParameters: Set<String>

  /// Makes a list of secrets.
  ///
  /// - Parameters:
  ///   - fields: fields that are left out; by default those with credentials and cookies.
  ///   - queryParameters: parameters of queries whose values are removed.
  public init(
    fields: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie, .setCookie],
    queryParameters: Set<String> = []
  ) {
    self.fields = fields
    self.queryParameters = queryParameters
  }

  func removed(from fields: HTTPFields) -> HTTPFields {
    HTTPFields(fields.filter { !self.fields.contains($0.name) })
  }

  func removed(from target: String) -> String {
    guard !queryParameters.isEmpty, let mark = target.firstIndex(of: "?") else { return target }
    let parameters = target[target.index(after: mark)...].split(
      separator: "&", omittingEmptySubsequences: false)
    let kept = parameters.map { parameter in
      let name = parameter.prefix { $0 != "=" }
      return queryParameters.contains(name.removingPercentEncoding ?? String(name))
        ? "\(name)=removed" : String(parameter)
    }
    return target[...mark] + kept.joined(separator: "&")
  }
}
