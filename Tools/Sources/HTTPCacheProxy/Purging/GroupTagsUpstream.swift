import HTTPCacheSemantics
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

  /// Sends a request with the other upstream, and adds the groups to `Cache-Groups` of the response. A response with tags
  /// that cannot all be groups is not stored, because a purge would miss it.
  ///
  /// - Throws: `UpstreamError` of the other upstream.
  public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var response = try await base.send(request)
    let fields = response.head.headerFields
    guard GroupTags.areIn(fields) else { return response }
    let names = GroupTags.names(in: fields)
    if names?.isEmpty == true { return response }
    if let names, let value = Self.groups(of: response.head, with: names) {
      response.head.headerFields[.cacheGroups] = value
    } else {
      let problem = names.map { "too many tags (\($0.count))" } ?? "a tag that is not ASCII"
      logger.warning("\(request.head.path ?? ""): \(problem); it is not stored")
      response.storageRefusal = .upstream
    }
    return response
  }

  /// `Cache-Groups` of a response with further groups; nil if these are too many.
  private static func groups(of response: HTTPResponse, with names: [String]) -> String? {
    guard names.count <= mostNames, names.reduce(0, { $0 + $1.utf8.count }) <= mostBytes else { return nil }
    let own = CacheGroups.names(of: response)
    return CacheGroups.fieldValue(of: own + names.filter { !own.contains($0) })
  }
}
