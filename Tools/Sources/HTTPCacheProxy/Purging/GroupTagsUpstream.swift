public import HTTPCaching
import HTTPTypes
public import Logging

/// Adds the groups (RFC 9875 §2) that `Surrogate-Key` and `Cache-Tag` of responses name.
public struct GroupTagsUpstream: Upstream {
  /// The most bytes of names for one response.
  private static let mostBytes = 8 << 10
  private static let mostNames = 200

  private let base: any Upstream
  private let logger: Logger

  /// Makes an upstream over another one.
  public init(_ base: any Upstream, logger: Logger) {
    self.base = base
    self.logger = logger
  }

  /// As that of the other upstream.
  public var defaultTimeout: Duration? { base.defaultTimeout }

  /// Sends a request with the other upstream, and adds `Cache-Groups` to the response.
  ///
  /// - Throws: `UpstreamError` of the other upstream.
  public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var response = try await base.send(request)
    let names = GroupTags.names(in: response.head.headerFields)
    guard !names.isEmpty else { return response }
    guard names.count <= Self.mostNames, names.reduce(0, { $0 + $1.utf8.count }) <= Self.mostBytes else {
      // A response that a purge would miss must not be stored.
      logger.warning("\(request.head.path ?? ""): too many tags (\(names.count)); it is not stored")
      // bounded: one field of a response.
      response.head.headerFields.append(HTTPField(name: .cacheControl, value: "no-store"))
      return response
    }
    // bounded: one field of a response.
    response.head.headerFields.append(
      HTTPField(name: .cacheGroups, value: names.map { "\"\(Self.escaped($0))\"" }.joined(separator: ", ")))
    return response
  }

  private static func escaped(_ name: String) -> String {
    name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
