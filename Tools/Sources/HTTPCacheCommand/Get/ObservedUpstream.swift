import HTTPCacheAsyncHTTPClient
import HTTPCacheSemantics
import HTTPCaching
import NIOHTTP1
import Synchronization

/// The upstream of one transfer. It notes facts about the origin's response that the cache does not pass on.
final class ObservedUpstream: Upstream {
  /// Facts about the last response.
  struct Seen: Sendable {
    /// The octets of a 206.
    var range: Range<Int64>?
    /// Whether a content coding was removed.
    var isDecoded = false
    /// The version of HTTP, such as `1.1` or `2`; nil if unknown.
    var httpVersion: String?
  }

  private struct State {
    var seen = Seen()
    weak var body: (any BodySource)?
  }

  private let base: any Upstream
  private let state = Mutex(State())

  init(_ base: any Upstream) { self.base = base }

  var defaultTimeout: Duration? { base.defaultTimeout }

  /// The facts about the last response.
  var seen: Seen { state.withLock { $0.seen } }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var request = request
    var context = request.context as? AsyncHTTPClientUpstream.Context ?? .init()
    context.onVersion = { [weak self] version in
      self?.state.withLock { $0.seen.httpVersion = Self.text(version) }
    }
    request.context = context
    state.withLock { $0 = State() }
    let response = try await base.send(request)
    state.withLock { state in
      state.seen.range = PartialContent.part(of: response.head)?.range
      state.seen.isDecoded = response.isContentDecoded
      state.body = response.body.source
    }
    return response
  }

  /// Ends the transfer, even if the cache would fetch a small rest.
  func cancel() { state.withLock { $0.body }?.cancel() }

  /// Versions from 2 on have no minor number (RFC 9110 §2.5).
  private static func text(_ version: HTTPVersion) -> String {
    version.major < 2 ? "\(version.major).\(version.minor)" : "\(version.major)"
  }
}
