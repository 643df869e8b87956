import HTTPCacheArchives
import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCaching

/// One request of `get`: continues a part file if there is one, and ends with a complete file or a part file.
struct FileTransfer {
  let fetcher: Fetcher
  let request: HTTPRequest
  let url: String
  let content: RequestContent?
  var destination: Output.Destination
  var output: Output
  let transport: ObservedUpstream

  var clock: any CacheClock { fetcher.cache.configuration.clock }

  /// Fetches, and returns how the transfer ended.
  mutating func run(_ policy: CachePolicy) async -> TransferReport.Ending {
    var progress = TransferProgress()
    do {
      return .answered(try await answer(policy, &progress))
    } catch {
      progress.body?.source.cancel()
      transport.cancel()
      return .failed(await failure(error, progress))
    }
  }

  private mutating func answer(
    _ policy: CachePolicy, _ progress: inout TransferProgress
  ) async throws -> TransferReport.Answer {
    let (first, continuation) = try await firstAnswer(policy)
    var response = first
    var isContinued = false
    var restart: String?
    if let continuation, !isUnsatisfiable(response) {
      switch continuation.answer(response.head, from: response.finalTarget, now: clock.now) {
      case .rest: isContinued = true
      case .whole(let isChanged): restart = Self.restart(isChanged: isChanged)
      case .useless(let isChanged):
        restart = Self.restart(isChanged: isChanged)
        response = try await whole(insteadOf: response, continuation, policy, &progress)
      case .failure:
        // It may be the range that the origin does not like: it is asked once without it.
        restart = Self.restart(isChanged: false)
        response = try await whole(insteadOf: response, continuation, policy, &progress)
      case .contradictory(let text):
        response.body.source.cancel()
        progress.length = continuation.record.length
        throw UpstreamError(.protocol, text)
      }
    }
    try ResponseCheck(request, content: content, redirectLimit: fetcher.options.redirectLimit)
      .check(response.head, from: response.finalTarget, isContinued: isContinued)
    var answer = TransferReport.Answer(
      status: response.head.status.code, head: response.head, outcome: response.outcome, bytes: 0,
      finalTarget: response.finalTarget, redirects: response.redirects.count,
      isCacheOnly: policy == .cacheOnly, seedTime: response.isFromSeed ? response.storedAt : nil)
    answer.httpVersion = answer.isFromOrigin ? transport.seen.httpVersion : nil
    answer.restart = restart
    if isUnsatisfiable(response) {
      response.body.source.cancel()
      return answer
    }
    progress.began(response, from: isContinued ? continuation?.offset ?? 0 : 0, transport.seen)
    if isContinued { answer.continuation = .init(bytes: progress.start, file: output.part?.path) }
    if let cached = progress.cached {
      answer.continuation = .init(bytes: cached.start, fetched: cached.fetched)
    }
    answer.length = progress.length
    // From the message as received, before its body is decoded.
    progress.record = record(of: response, progress)
    if !isLeftOut(answer) { response = try prepared(response, &progress, isContinued: isContinued) }
    try await take(response, answer: &answer, progress: &progress, isContinued: isContinued)
    return answer
  }

  /// The answer to the request for the rest of the part file; without a part to continue, that to the request for the
  /// whole.
  private func firstAnswer(_ policy: CachePolicy) async throws -> (CacheResponse, PartContinuation?) {
    if let early = await continuation(policy) {
      return (try await respond(to: early.request, policy), early)
    }
    let whole = try await respond(to: request, policy)
    guard let late = continuation(insteadOf: whole, policy) else { return (whole, nil) }
    whole.body.source.cancel()
    return (try await respond(to: late.request, policy), late)
  }

  /// The answer to the request for the whole, after an answer to a range that has no octets of the rest.
  ///
  /// - Throws: `NotContinued` for an error, which must not take the place of the part; what asking throws.
  private func whole(
    insteadOf response: CacheResponse, _ continuation: PartContinuation, _ policy: CachePolicy,
    _ progress: inout TransferProgress
  ) async throws -> CacheResponse {
    response.body.source.cancel()
    let whole = try await respond(to: request, policy)
    guard whole.head.status.code >= 400 else { return whole }
    whole.body.source.cancel()
    progress.length = continuation.record.length
    throw NotContinued(status: whole.head.status.code)
  }

  /// Whether the body is not for the file. A 304 has none, and what the file has is still right.
  private func isLeftOut(_ answer: TransferReport.Answer) -> Bool {
    fetcher.failsOnError && answer.status >= 400 || answer.status == 304
  }

  /// The response with the body to write. Sets the name of the file if the head names it.
  private mutating func prepared(
    _ response: CacheResponse, _ progress: inout TransferProgress, isContinued: Bool
  ) throws -> CacheResponse {
    var response = response
    if isContinued, let name = HTTPField.Name("Content-Disposition"),
      response.head.headerFields[name] == nil
    {
      // A 206 may leave out fields that the first response had (RFC 9110 §15.3.7).
      response.head.headerFields[name] = output.part?.record?.fields[name]
    }
    let (body, first) = (response.body, destination)
    (response, destination) = try fetcher.handling.prepared(response, of: request, for: destination)
    if fetcher.handling.usesHeaderName { try output.name(destination, isNew: destination != first) }
    if response.body.source !== body.source { progress.decode(to: response.body) }
    return response
  }

  /// Writes the body.
  private func take(
    _ response: CacheResponse, answer: inout TransferReport.Answer, progress: inout TransferProgress,
    isContinued: Bool
  ) async throws {
    let isLeftOut = isLeftOut(answer)
    if answer.isFromOrigin { tellIfTooLarge(answer) }
    let bar = fetcher.meter.begin(url, length: progress.length, from: progress.shownStart)
    defer { fetcher.meter.leave(bar) }
    if let start = isContinued ? progress.start : nil {
      try output.resume(at: start)
    } else if !isLeftOut {
      try await output.begin(progress.record, for: request, scope: scope) { [fetcher] in
        if !fetcher.isQuiet { fetcher.meter.say("httpcache: \($0)") }
      }
    }
    if isLeftOut {
      while let bytes = try await response.body.source.next() { answer.bytes += Int64(bytes.count) }
    } else {
      try await write(response, bar: bar, progress: &progress)
      answer.bytes = progress.start + progress.received
      // The rest may have no length; the whole body has one.
      if isContinued, let length = progress.length, answer.bytes != length {
        throw UpstreamError(
          .protocol, "the response has \(answer.bytes) bytes, not \(length) as Content-Range says")
      }
      if case .file = destination { try await checkDigest(of: response) }
      try output.finish(modified: usesRemoteTime ? modified(response) : nil)
      if case .file(let path) = destination { answer.file = path }
    }
    answer.storage = fetcher.recorder.result(for: response.finalTarget)
    if fetcher.explains { answer.explanation = fetcher.explanation(of: answer, response.head, to: request) }
  }

  /// The time of the representation, in seconds since 1970. A 206 may leave out what the first response said.
  private func modified(_ response: CacheResponse) -> Int64? {
    (response.head.headerFields[.lastModified] ?? output.part?.record?.fields[.lastModified])
      .flatMap { Timestamp(httpDate: $0, relativeTo: clock.now)?.seconds }
  }

  private var usesRemoteTime: Bool { fetcher.handling.usesRemoteTime }

  /// The file that is there stays if the body does not have its digest.
  private func checkDigest(of response: CacheResponse) async throws {
    switch fetcher.recorder.result(for: response.finalTarget) {
    case .stored: break
    case .notStored(.digestMismatch(let algorithm)): throw WrongDigest(algorithm: algorithm)
    case .kept, .notStored, nil:
      // The cache has not seen all bytes.
      if let algorithm = try await output.part?.mismatch() {
        throw WrongDigest(algorithm: algorithm.rawValue)
      }
    }
  }

  private func write(
    _ response: CacheResponse, bar: ProgressMeter.Bar, progress: inout TransferProgress
  ) async throws {
    let head = fetcher.includesHead ? BodyBytes(Array(response.head.text.utf8)) : nil
    var isFirst = true
    while let bytes = try await response.body.source.next() {
      if isFirst {
        if fetcher.protectsTerminal, Terminal.isBinary(bytes) { throw BinaryBody() }
        if let head { try await output.write(head) }
        isFirst = false
      }
      try await output.write(bytes)
      progress.received += Int64(bytes.count)
      fetcher.meter.add(bytes.count, to: bar, at: progress.start + progress.received)
    }
    if isFirst, let head { try await output.write(head) }
  }

  private func respond(to request: HTTPRequest, _ policy: CachePolicy) async throws -> CacheResponse {
    try await fetcher.cache.respond(
      to: request, body: try content?.makeBody(), policy: policy, options: options(for: request),
      via: transport)
  }

  /// A stored body in a content coding has octets other than those of the part file.
  private func options(for request: HTTPRequest) -> RequestOptions {
    var options = fetcher.options
    if request.headerFields[.range] != nil { options.bodyForms = options.bodyForms.withoutCoding }
    if let content, content.isRepeatable { options.contentAgain = { try content.makeBody() } }
    return options
  }

  private func isUnsatisfiable(_ response: CacheResponse) -> Bool {
    if case .unsatisfiable = response.outcome { true } else { false }
  }

  // MARK: Continuing

  /// How to continue an earlier transfer; nil if the cache has about as many bytes, or the policy requests the whole
  /// body again.
  private func continuation(_ policy: CachePolicy) async -> PartContinuation? {
    guard let part = output.part, let found = partContinuation(policy) else { return nil }
    let cached = await cachedBytes()
    return cached > 0 && cached >= part.received - Self.slack ? nil : found
  }

  /// How to continue the part file, whatever the cache has; nil without a part file for the request.
  private func partContinuation(_ policy: CachePolicy) -> PartContinuation? {
    // The queue keeps parts with a content coding; `get` writes decoded bytes.
    guard let part = output.part, !fetcher.includesHead, content == nil,
      part.record?.fields[.contentEncoding] == nil
    else { return nil }
    return PartContinuation(of: request, part: part, policy: policy, scope: scope)
  }

  /// How to continue the part file after redirects have led to a URL of which the cache has nothing; nil if the entity
  /// tag of the answer is not that of the part.
  private func continuation(insteadOf whole: CacheResponse, _ policy: CachePolicy) -> PartContinuation? {
    guard !whole.redirects.isEmpty, whole.head.headerFields[.contentEncoding] == nil,
      case .forwarded(_, status: 200, _, collapsed: false) = whole.outcome,
      let found = partContinuation(policy), found.record.fields[.eTag] != nil,
      case .whole(isChanged: false) = found.answer(whole.head, from: whole.finalTarget, now: clock.now)
    else { return nil }
    return found
  }

  /// The part file is preferred only if the cache has this many bytes less. Continuing from the cache stores the
  /// response, and a killed process loses up to 4 MiB of what it stores.
  static let slack: Int64 = 8 << 20

  /// Why the whole body is fetched again.
  private static func restart(isChanged: Bool) -> String {
    isChanged
      ? "the response has changed since its first part came" : "the origin does not continue responses"
  }

  /// Bytes that came without a check of certificates are never combined with others.
  private var scope: String { fetcher.isInsecure ? "insecure" : "" }

  /// Number of bytes of an incomplete response after which the cache could continue.
  private func cachedBytes() async -> Int64 {
    let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    guard let target = TargetURI.normalized(url), let page = try? await fetcher.cache.entries(.target(target))
    else { return 0 }
    return page.entries.compactMap { $0.record.storedRanges?.first }.filter { $0.lowerBound == 0 }
      .map(\.upperBound).max() ?? 0
  }

  private func record(of response: CacheResponse, _ progress: TransferProgress) -> PartRecord? {
    guard progress.isForwarded, !fetcher.includesHead, content == nil, !transport.seen.isDecoded,
      response.head.headerFields[.contentEncoding] == nil
    else { return nil }
    return PartRecord(
      of: response.head, to: request, from: response.finalTarget, scope: scope, length: progress.length,
      now: clock.now)
  }

  private func tellIfTooLarge(_ answer: TransferReport.Answer) {
    guard !fetcher.isQuiet, let text = answer.outcomeText.limit else { return }
    fetcher.meter.say("\(url): it will not be cached: \(text)")
  }
}
