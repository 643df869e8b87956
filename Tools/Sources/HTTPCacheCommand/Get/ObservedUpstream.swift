import HTTPCacheAsyncHTTPClient
import HTTPCaching
import NIOHTTP1
import Synchronization

/// The way to the origin for one transfer; it notes what the cache does not hand on.
final class ObservedUpstream: Upstream {
  /// What the last response was.
  struct Seen: Sendable {
    /// The octets of a 206.
    var range: Range<Int64>?
    /// Whether a content coding was taken off.
    var isDecoded = false
    /// The version of HTTP, such as `1.1` or `2`; nil if the transport does not tell it.
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

  /// What the last response was.
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

  /// Ends the transfer, also where the cache would fetch the little that is left.
  func cancel() { state.withLock { $0.body }?.cancel() }

  /// Versions from 2 on have no minor number (RFC 9110 §2.5).
  private static func text(_ version: HTTPVersion) -> String {
    version.major < 2 ? "\(version.major).\(version.minor)" : "\(version.major)"
  }
}
