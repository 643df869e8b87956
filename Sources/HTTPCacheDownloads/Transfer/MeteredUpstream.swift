import HTTPCaching
import Synchronization

/// The way to the origin for one attempt: counts bytes, keeps the limit of bytes per second, and ends bodies that
/// stall.
struct MeteredUpstream: Upstream {
  let upstream: any Upstream
  let meter: DownloadMeter
  let limiter: RateLimiter
  let clock: any CacheClock
  let stallLimit: Duration

  var defaultTimeout: Duration? { upstream.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    meter.sends(request.head)
    var response = try await upstream.send(request)
    meter.receives(response.head, isDecoded: response.isContentDecoded)
    response.body = MessageBody(MeteredBody(response.body.source, self))
    return response
  }
}

/// The body of a response on its way through a `MeteredUpstream`.
final class MeteredBody: BodySource {
  /// Since when the body waits for bytes, for the task that looks for stalls.
  private final class Waiting: Sendable {
    struct State {
      var since: Duration?
      var isStalled = false
    }
    let state = Mutex(State())

    func begin(at uptime: Duration) { state.withLock { $0.since = uptime } }

    /// Whether it stalled.
    func end() -> Bool {
      state.withLock {
        $0.since = nil
        return $0.isStalled
      }
    }
  }

  private let base: any BodySource
  private let route: MeteredUpstream
  private let waiting = Waiting()
  private let watch = Mutex<Task<Void, Never>?>(nil)

  init(_ base: any BodySource, _ route: MeteredUpstream) {
    self.base = base
    self.route = route
  }

  deinit { watch.withLock { $0?.cancel() } }

  var length: Int64? { base.length }
  var trailers: HTTPFields { base.trailers }

  func next() async throws -> BodyBytes? {
    waiting.begin(at: route.clock.uptime)
    startWatching()
    let bytes: BodyBytes?
    do { bytes = try await base.next() } catch {
      stopWatching()
      route.meter.broke()
      throw waiting.end() ? stall : error
    }
    // A cancelled source may end as if it were complete.
    if waiting.end() {
      route.meter.broke()
      throw stall
    }
    guard let bytes else {
      stopWatching()
      return nil
    }
    route.meter.fetched(bytes.count)
    await route.limiter.take(bytes.count)
    return bytes
  }

  func cancel() {
    stopWatching()
    base.cancel()
  }

  private var stall: UpstreamError {
    UpstreamError(.timeout, "no byte of the body for \(route.stallLimit)")
  }

  private func startWatching() {
    watch.withLock { task in
      guard task == nil else { return }
      task = Task { [base, waiting, route] in await MeteredBody.watch(base, waiting: waiting, route: route) }
    }
  }

  /// Cancels a source that gives no byte for `stallLimit`.
  private static func watch(
    _ base: any BodySource, waiting: Waiting, route: MeteredUpstream
  ) async {
    while !Task.isCancelled {
      let now = route.clock.uptime
      let idle = waiting.state.withLock { state in
        let idle = state.since.map { now - $0 } ?? .zero
        if idle >= route.stallLimit { state.isStalled = true }
        return idle
      }
      if idle >= route.stallLimit { return base.cancel() }
      do { try await route.clock.sleep(for: route.stallLimit - idle) } catch { return }
    }
  }

  private func stopWatching() { watch.withLock { $0?.cancel() } }
}
