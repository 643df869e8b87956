import Foundation
public import HTTPTypes

/// Secrets that a recording or an export does not keep.
public struct RecordingSecrets: Sendable, Hashable {
  /// Fields of requests and responses that are left out.
  public var fields: Set<HTTPField.Name>
  /// Parameters of queries, whose values become `removed`: in URLs, in `Location`, `Content-Location` and `Referer`,
  /// and in the requests that are looked up. They are removed from the fragment of a `Location`, too.
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

  private static let references: Set<HTTPField.Name> = [.location, .contentLocation, .referer]

  func removed(from fields: HTTPFields) -> HTTPFields {
    HTTPFields(
      fields.compactMap { field in
        guard !self.fields.contains(field.name) else { return nil }
        guard !queryParameters.isEmpty, Self.references.contains(field.name) else { return field }
        return HTTPField(name: field.name, value: removed(from: field.value))
      })
  }

  func removed(from target: String) -> String {
    guard !queryParameters.isEmpty, let mark = target.firstIndex(where: { $0 == "?" || $0 == "#" })
    else { return target }
    let lists = target[target.index(after: mark)...]
      .split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    return target[...mark] + lists.map(withoutValues).joined(separator: "#")
  }

  /// The parameters of a query or of a fragment. A fragment may begin with a path: `#/inbox?token=1`.
  private func withoutValues(_ parameters: Substring) -> String {
    parameters.split(separator: "&", omittingEmptySubsequences: false).map { parameter in
      let start = parameter.prefix { $0 != "=" }
      let name = start.suffix(from: start.lastIndex(of: "?").map(start.index(after:)) ?? start.startIndex)
      return queryParameters.contains(name.removingPercentEncoding ?? String(name))
        ? "\(start)=removed" : String(parameter)
    }.joined(separator: "&")
  }
}
