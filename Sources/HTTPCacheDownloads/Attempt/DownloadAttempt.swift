import HTTPCacheSemantics
import HTTPCacheStore
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
      if error is NotKept, !Task.isCancelled { return .notKept }
      let bytes = AttemptBytes(reached: meter.reached, kept: await keptBytes(meter))
      if Task.isCancelled { return .stopped(bytes) }
      let retryAfter = meter.exchange?.response.flatMap {
        RetryAfter.seconds($0.headerFields, now: clock.now)
      }
      let failure = Self.failure(of: error)
      if failure.kind == .unreachable, !cache.isOnline { return .offline(bytes) }
      return .failed(failure, retryAfter: retryAfter, bytes)
    }
  }

  /// The bytes of the file in the part beside the destination, or in the cache.
  private func keptBytes(_ meter: DownloadMeter) async -> Int64 {
    if let file, let part = PartFile(existingBeside: file.path) {
      defer { part.close() }
      if part.record?.belongs(to: item.download.request) == true { return StoredRanges.count(part.kept) }
    }
    // A redirect leads to the target under which the cache has the file.
    let request = meter.exchange?.request ?? item.download.request
    let stored = await cache.storedBytes(of: request, partition: options.partition) {
      $0.status.kind == .successful
    }
    // The transfer goes on.
    return stored == .max ? meter.received : stored
  }

  /// Asks one URL of the file after the other until one has it. The next attempt begins with the next URL.
  private func runMirrors(_ meter: DownloadMeter) async throws -> AttemptEnd {
    for number in item.tries..<item.tries + item.download.mirrors.count {
      do { return try await run(meter, number: number) } catch {
        guard !Task.isCancelled, !(error is NotKept), Self.failure(of: error).isOfOrigin else { throw error }
        meter.startsOver()
      }
    }
    return try await run(meter, number: item.tries + item.download.mirrors.count)
  }

  /// - Parameter number: that of the URL, as in `Download.request(number:)`.
  private func run(_ meter: DownloadMeter, number: Int) async throws -> AttemptEnd {
    tell(.state(.validating))
    let occupant = try file?.occupant(item.placed)
    let isCurrent = occupant == .placed && item.download.digests.isEmpty
    let request = try await request(number: number, isPlaced: isCurrent)
    if let end = try await runChecked(request, occupant: occupant, meter: meter) { return end }
    let covered = await coveredPart(by: request, occupant: occupant)
    if covered == nil, let end = try await runRanges(request, occupant: occupant, meter: meter) { return end }
    var response = try await respond(to: request, meter)
    do {
      if let covered, covered.goesOn(insteadOf: response, now: clock.now) {
        response.body.source.cancel()
        if let end = try await runRanges(request, occupant: occupant, meter: meter) { return end }
        response = try await respond(to: request, meter)
      }
      if response.head.status.code == 304, isCurrent {
        try requireAsked(response)
        return .done(.destination, received: item.placed?.size ?? 0)
      }
      try check(response)
      return try await receive(try measured(response, meter), to: request, meter: meter)
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
    var options = RequestOptions(
      bodyForms: .any, timeout: configuration.headLimit, context: configuration.context,
      validatesInBackground: false)
    if let addFields = configuration.addFields {
      options.addFields = { [download = item.download] request in addFields(&request, download) }
    }
    return options
  }

  /// - Throws: `DownloadFailure` for a stale response that answers because the origin cannot be asked.
  private func requireAsked(_ response: CacheResponse) throws(DownloadFailure) {
    guard case .hit(_, _, let allowance?) = response.outcome else { return }
    switch allowance {
    case .maxStale, .policy: break
    case .window(let window) where !window.isAfterFailure: break
    case .window, .disconnected:
      throw DownloadFailure(
        .unreachable, "the origin cannot be asked whether the stored response is current")
    }
  }

  /// Whether a response has the whole file.
  ///
  /// - Throws: `DownloadFailure` for any other response.
  func check(_ response: CacheResponse) throws(DownloadFailure) {
    try requireAsked(response)
    let code = response.head.status.code
    let phrase = response.head.status.reasonPhrase
    let name = phrase.isEmpty ? "\(code)" : "\(code) \(phrase)"
    switch code {
    case 200, 203: return
    case 204, 205:
      throw DownloadFailure(.status, "\(name): the response has no content to save (RFC 9110 §15.3)")
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
      var failure = DownloadFailure(kind, error.message)
      failure.isContradiction = error.cause is LengthContradiction
      return failure
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

/// The cache did not keep the response, and the bytes are gone.
struct NotKept: Error {}

extension DownloadAttempt {
  /// The stored response with the whole file, whatever its age; nil without one.
  ///
  /// - Parameters:
  ///   - validators: those of the downloaded response; nil for any.
  ///   - isCounted: whether the response answers the download without a request.
  func stored(
    _ request: HTTPRequest, _ validators: ResponseValidators?, isCounted: Bool = false
  ) -> CacheResponse? {
    let stored = cache.stored(
      for: request, partition: options.partition, in: options.bodyForms, isCounted: isCounted)
    guard let response = stored?.response,
      response.head.status.code == 200 || response.head.status.code == 203,
      response.body.source.stored != nil,
      validators == nil || ResponseValidators(response.head.headerFields) == validators
    else { return nil }
    return response
  }

  /// - Throws: `DownloadFailure` with `notStored`.
  func requireStored(_ request: HTTPRequest, _ validators: ResponseValidators) throws(DownloadFailure) {
    if stored(request, validators) == nil {
      throw DownloadFailure(.notStored, "the cache did not keep the response")
    }
  }

  /// Makes the part a link to the stored body if the download allows it and has just written the body, a clone where
  /// the file system can, else a copy.
  ///
  /// - Parameter response: the response that was stored before this attempt; nil if this attempt stored the body.
  /// - Throws: `NotKept` if the body is not stored; `CacheError`.
  func fill(
    _ part: PartFile, from response: CacheResponse?, request: HTTPRequest, validators: ResponseValidators
  ) async throws {
    guard let stored = (response ?? stored(request, validators))?.body.source.stored else { throw NotKept() }
    if response == nil, item.download.linksEntry, let region = stored.reader.fileRegion, region.offset == 0,
      region.count == stored.reader.length, part.link(to: region.descriptor)
    {
      return
    }
    do throws(CacheError) { try await part.clone(stored.reader) } catch {
      if error.code == .damaged || error.code == .unavailable { throw NotKept() }
      throw error
    }
  }

  /// Moves a complete part to the destination.
  func place(
    _ part: PartFile, at file: DestinationFile, validators: ResponseValidators
  ) throws(DownloadFailure) {
    let modified = validators.lastModified.flatMap { Timestamp(httpDate: $0, relativeTo: clock.now)?.seconds }
    let placed = try part.finish(
      for: file.path, modified: modified, isDurable: cache.configuration.durability == .durable)
    // The destination may have changed during the transfer.
    let occupant = try file.occupant(item.placed)
    tell(.placing(placed))
    try part.move(to: file.path, mustBeNew: occupant == .nothing && !file.replacesExisting)
  }

  /// The request for another target.
  static func request(_ request: HTTPRequest, at target: String) -> HTTPRequest {
    guard let parts = TargetURI.parts(of: target) else { return request }
    var request = request
    (request.scheme, request.authority, request.path) = (parts.scheme, parts.authority, parts.path)
    return request
  }
}
