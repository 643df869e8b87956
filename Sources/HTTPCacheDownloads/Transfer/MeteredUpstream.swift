import HTTPCaching

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
    response.body = MessageBody(MeteredBody(response.body, self))
    return response
  }
}

/// The body of a response on its way through a `MeteredUpstream`.
final class MeteredBody: BodySource {
  private let base: TimedBody
  private let route: MeteredUpstream

  init(_ body: MessageBody, _ route: MeteredUpstream) {
    let stall = UpstreamError(.timeout, "no byte of the body for \(route.stallLimit)")
    base = TimedBody(body, idle: route.stallLimit, late: stall, clock: route.clock)
    self.route = route
  }

  var length: Int64? { base.length }
  var trailers: HTTPFields { base.trailers }

  func next() async throws -> BodyBytes? {
    let bytes: BodyBytes?
    do { bytes = try await base.next() } catch {
      route.meter.broke()
      throw error
    }
    guard let bytes else { return nil }
    route.meter.fetched(bytes.count)
    await route.limiter.take(bytes.count)
    return bytes
  }

  func cancel() { base.cancel() }
}
