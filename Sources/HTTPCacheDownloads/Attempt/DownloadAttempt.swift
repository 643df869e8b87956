import HTTPCacheSemantics
import HTTPCaching

/// One attempt at a download, from the request to the file at its destination.
struct DownloadAttempt: Sendable {
  let item: DownloadItem
  let cache: HTTPCache
  let upstream: any Upstream
  let limiter: RateLimiter
  let configuration: DownloadQueue.Configuration
  let tell: @Sendable (AttemptNews) -> Void

  var clock: any CacheClock { cache.configuration.clock }
  var file: DestinationFile? {
    item.download.destination.map {
      DestinationFile($0, replacesExisting: item.download.replacesExisting)
    }
  }

  func run() async -> AttemptEnd {
    let meter = DownloadMeter(clock: clock) { [tell] in tell(.progress($0)) }
    do {
      return try await runMirrors(meter)
    } catch {
      allowCompletion(meter)
      if Task.isCancelled { return .stopped(received: meter.received) }
      if error is NotKept { return .notKept }
      let retryAfter = meter.exchange?.response.flatMap {
        RetryAfter.seconds($0.headerFields, now: clock.now)
      }
      let failure = Self.failure(of: error)
      if failure.kind == .unreachable, !cache.isOnline { return .offline(received: meter.received) }
      return .failed(failure, retryAfter: retryAfter, received: meter.received)
    }
  }

  /// Asks one URL of the file after the other until one has it. The next attempt begins with the next URL.
  private func runMirrors(_ meter: DownloadMeter) async throws -> AttemptEnd {
    for number in item.tries..<item.tries + item.download.mirrors.count {
      do { return try await run(meter, number: number) } catch {
        guard !Task.isCancelled, !(error is NotKept), Self.failure(of: error).isOfOrigin else { throw error }
        meter.arrives(at: nil)
      }
    }
    return try await run(meter, number: item.tries + item.download.mirrors.count)
  }

  /// - Parameter number: that of the URL, as in `Download.request(number:)`.
  private func run(_ meter: DownloadMeter, number: Int) async throws -> AttemptEnd {
    tell(.state(.validating))
    let occupant = try file?.occupant(item.placed)
    let request = try await request(number: number, isPlaced: occupant == .placed)
    if let end = try await runRanges(request, occupant: occupant, meter: meter) { return end }
    let response = try await respond(to: request, meter)
    do {
      if response.head.status.code == 304, occupant == .placed {
        let size = item.placed?.size ?? 0
        return .done(.destination, received: size)
      }
      try check(response)
      return try await receive(response, to: request, meter: meter)
    } catch {
      response.body.source.cancel()
      throw error
    }
  }

  /// The request of this attempt. If the queue's own file is at the destination, its validators make the
  /// request conditional (RFC 9110 §13.1).
  func request(number: Int, isPlaced: Bool = false) async throws -> HTTPRequest {
    var request = item.download.request(number: number)
    if let prepare = configuration.prepare { request = try await prepare(request) }
    // A coding would be removed by some doors, and a decoded body cannot be continued.
    if request.headerFields[.acceptEncoding] == nil { request.headerFields[.acceptEncoding] = "identity" }
    if isPlaced, !item.validators.isEmpty {
      if let tag = item.validators.eTag {
        request.headerFields[.ifNoneMatch] = tag
      } else {
        request.headerFields[.ifModifiedSince] = item.validators.lastModified
      }
    }
    return request
  }

  private func respond(to request: HTTPRequest, _ meter: DownloadMeter) async throws -> CacheResponse {
    try await cache.respond(to: request, options: options, via: metered(meter))
  }

  func metered(_ meter: DownloadMeter) -> MeteredUpstream {
    MeteredUpstream(
      upstream: upstream, meter: meter, limiter: limiter, clock: clock,
      stallLimit: configuration.stallLimit)
  }

  var options: RequestOptions {
    RequestOptions(
      bodyForms: .any, timeout: configuration.stallLimit, context: configuration.context,
      validatesInBackground: false)
  }

  /// Whether a response has the whole file.
  ///
  /// - Throws: `DownloadFailure` for any other response.
  func check(_ response: CacheResponse) throws(DownloadFailure) {
    if case .hit(_, _, let allowance?) = response.outcome {
      switch allowance {
      case .maxStale, .policy: break
      case .window(let window) where !window.isAfterFailure: break
      case .window, .disconnected:
        throw DownloadFailure(
          .unreachable, "the origin cannot be asked whether the stored response is current")
      }
    }
    let code = response.head.status.code
    let phrase = response.head.status.reasonPhrase
    let name = phrase.isEmpty ? "\(code)" : "\(code) \(phrase)"
    switch code {
    case 200, 203: return
    case 404, 410: throw DownloadFailure(.gone, name)
    case 401, 403, 407, 451: throw DownloadFailure(.forbidden, name)
    case 408, 425, 429, 500...599: throw DownloadFailure(.serverError, name)
    case 300...399: throw DownloadFailure(.redirects, "\(name) names no target that can be followed")
    default: throw DownloadFailure(.status, name)
    }
  }

  /// Lets the next attempt continue although this one brought nothing, if the connection broke. An origin whose
  /// continuations bring nothing again and again is asked for the whole.
  private func allowCompletion(_ meter: DownloadMeter) {
    guard meter.hasBroken, item.tries < 3, let request = meter.exchange?.request else { return }
    cache.mayCompleteAgain(request)
  }

  /// Makes a failure of an error, with a message for people.
  static func failure(of error: any Error) -> DownloadFailure {
    switch error {
    case let failure as DownloadFailure: return failure
    case let error as UpstreamError:
      if error.cause is RedirectLimitReached { return DownloadFailure(.redirects, error.message) }
      let kind: DownloadFailure.Kind =
        switch error.kind {
        case .unreachable: .unreachable
        case .timeout: .timeout
        case .tls: .tls
        case .cancelled, .protocol: .interrupted
        }
      return DownloadFailure(kind, error.message)
    case let error as CacheError:
      return DownloadFailure(error.code == .noSpace ? .fullDisk : .io, "\(error)")
    default: return DownloadFailure(.io, "\(error)")
    }
  }
}

extension HTTPRequest {
  /// The request for all of a file, whatever is at the destination.
  var withoutConditions: HTTPRequest {
    var request = self
    for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { request.headerFields[name] = nil }
    return request
  }
}

extension HTTPCache {
  /// Whether requests may be sent to origins.
  var isOnline: Bool { !isOffline && configuration.connectivity?.isConnected ?? true }
}

/// The cache did not keep the response, and the bytes are gone.
struct NotKept: Error {}
