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
    let first = destination
    let found = try await find(policy, &progress)
    do {
      return try await receive(found, policy, &progress)
    } catch let error as UpstreamError
      where error.cause is LengthContradiction && !output.isStream
      && (found.continuation != nil || progress.cached != nil)
    {
      // The answer to the range is of no use: the whole is asked for once.
      output.part?.dropAdded()
      let known = found.continuation?.record ?? partContinuation(policy)?.record
      (destination, progress) = (first, TransferProgress())
      let whole = try await whole(insteadOf: found.response, known, isChanged: false, policy, &progress)
      return try await receive(whole, policy, &progress)
    }
  }

  /// Receives the body of a response.
  private mutating func receive(
    _ found: FoundAnswer, _ policy: CachePolicy, _ progress: inout TransferProgress
  ) async throws -> TransferReport.Answer {
    var response = found.response
    let isContinued = found.continuation != nil
    try ResponseCheck(request, content: content, redirectLimit: fetcher.options.redirectLimit)
      .check(response.head, from: response.finalTarget, isContinued: isContinued)
    try requireContent(response)
    var answer = TransferReport.Answer(
      status: response.head.status.code, head: response.head, outcome: response.outcome, bytes: 0,
      finalTarget: response.finalTarget, redirects: response.redirects.count,
      isCacheOnly: policy == .cacheOnly, bypass: fetcher.bypass,
      seedTime: response.isFromSeed ? response.storedAt : nil)
    answer.httpVersion = answer.isFromOrigin ? transport.seen.httpVersion : nil
    answer.restart = found.restart
    if isUnsatisfiable(response) {
      response.body.source.cancel()
      return answer
    }
    progress.began(response, from: found.continuation?.offset ?? 0, transport.seen)
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

  /// - Throws: a failure for a 204 or 205 that would take the place of a file: there is no representation to save.
  private func requireContent(_ response: CacheResponse) throws(TransferReport.Failure) {
    let status = response.head.status.code
    guard status == 204 || status == 205, request.method == .get, output.part != nil, !fetcher.includesHead
    else { return }
    response.body.source.cancel()
    throw TransferReport.Failure(
      status: .httpError, reason: "status \(status): the response has no content to save (RFC 9110 §15.3)")
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
      try output.resume(at: start, length: progress.length)
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
      // A 206 that was not asked for is all of the representation, too.
      if request.headerFields[.range] == nil, !progress.isDecoded,
        let length = PartialContent.part(of: response.head)?.range.upperBound, answer.bytes != length
      {
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
        if fetcher.protectsTerminal, Terminal.isBinary(bytes) {
          throw TransferReport.Failure(
            status: .output,
            reason:
              "the body is binary and may disturb the terminal; -o FILE writes it to a file, -o - shows it all "
              + "the same")
        }
        if let head { try await output.write(head) }
        isFirst = false
      }
      try await output.write(bytes)
      progress.received += Int64(bytes.count)
      fetcher.meter.add(bytes.count, to: bar, at: progress.start + progress.received)
    }
    if isFirst, let head { try await output.write(head) }
  }

  func respond(to request: HTTPRequest, _ policy: CachePolicy) async throws -> CacheResponse {
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

  func isUnsatisfiable(_ response: CacheResponse) -> Bool {
    if case .unsatisfiable = response.outcome { true } else { false }
  }

  /// Bytes that came without a check of certificates are never combined with others.
  var scope: String { fetcher.isInsecure ? "insecure" : "" }

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
