import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

extension DownloadAttempt {
  /// Takes the file with the expected digests from the destination or from the cache. The origin is not asked: these
  /// are the right bytes, whatever their age.
  ///
  /// - Returns: nil if neither has such a file.
  func runChecked(
    _ request: HTTPRequest, occupant: DestinationFile.Occupant?, meter: DownloadMeter
  ) async throws -> AttemptEnd? {
    let digests = item.download.digests
    guard !digests.isEmpty else { return nil }
    try requireDigests()
    if occupant == .placed, let file, try await file.has(digests) {
      return .done(.destination, received: item.placed?.size ?? 0)
    }
    guard let response = stored(request, nil), let body = response.body.source.stored,
      var verifier = DigestVerifier(digests)
    else { return nil }
    do {
      try await body.reader.readPieces(of: body.range) { (bytes) throws(CacheError) in
        if Task.isCancelled { throw CacheError(.cancelled, "the task was cancelled") }
        verifier.update(bytes)
      }
    } catch {
      try Task.checkCancellation()
      // The request that follows finds the damage, too.
      return nil
    }
    guard verifier.difference() == nil else { return nil }
    _ = stored(request, nil, isCounted: true)
    return try await receive(response, to: request, meter: meter, isChecked: true)
  }

  /// Reads the body to its end, checks it and puts it at the destination.
  ///
  /// - Parameter isChecked: whether the body is known to have the expected digests.
  func receive(
    _ response: CacheResponse, to request: HTTPRequest, meter: DownloadMeter, isChecked: Bool = false
  ) async throws -> AttemptEnd {
    let validators = ResponseValidators(response.head.headerFields)
    let length = response.body.length
    let restart = restart(to: validators, length: length, meter: meter)
    tell(.head(validators, expected: length, restart: restart))
    if restart == .changed, item.changes >= configuration.restartLimit {
      throw DownloadFailure(.changed, "the file changed \(item.changes + 1) times during the download")
    }
    try requireSpace(length.map { max(0, $0 - meter.received) } ?? 0)
    let part = try part(for: response, meter: meter)
    let isWritten = part.map { $0.isWritten } ?? false
    let digests = try isChecked ? [] : digests(for: response, isWritten: isWritten, meter: meter)
    // The file then has bytes that are not of this transfer.
    let repeatsBytes = isWritten && part?.file.repeatsBytes == true
    var verifier = repeatsBytes ? nil : DigestVerifier(digests)
    let source = Self.source(of: response.outcome)
    // A redirect on the way need not be stored.
    let request = Self.request(request, at: response.finalTarget)
    // Stored bytes that no digest is asked of need not be read.
    let isStored = response.body.source.stored != nil && !isWritten && verifier == nil
    if !isStored {
      tell(.state(.receiving))
      do {
        try await read(response.body, into: isWritten ? part?.file : nil, verifier: &verifier, meter: meter)
      } catch {
        await part?.file.keep(after: error)
        throw error
      }
    }
    tell(.state(.verifying))
    let difference =
      try await repeatsBytes ? part?.file.difference(from: digests) : verifier?.difference()
    if let difference {
      await cache.removeStored(for: request)
      part?.file.discard()
      meter.arrives(at: 0)
      throw wrongDigest(difference)
    }
    let received = isStored ? length ?? 0 : meter.received
    guard let file, let part else {
      try requireStored(request, validators)
      return .done(source, received: received)
    }
    if !isWritten {
      try await fill(
        part.file, from: isStored ? response : nil, request: request, validators: validators)
    }
    do throws(DownloadFailure) { try place(part.file, at: file, validators: validators) } catch {
      // The next attempt takes the body from the cache, if it is there.
      if stored(request, validators) != nil { part.file.discard() }
      throw error
    }
    return .done(source, received: received)
  }

  /// A response with a body of the length that is known of its representation, if a part of it is beside the destination.
  ///
  /// - Throws: `UpstreamError` if the response announces another length.
  func measured(_ response: CacheResponse, _ meter: DownloadMeter) throws(UpstreamError) -> CacheResponse {
    guard !meter.isDecoded, let file, let part = PartFile(existingBeside: file.path) else { return response }
    defer { part.close() }
    guard let record = part.record, record.belongs(to: item.download.request) else { return response }
    var response = response
    response.body = try record.body(of: response, now: clock.now)
    return response
  }

  func wrongDigest(_ difference: DigestVerifier.Difference) -> DownloadFailure {
    DownloadFailure(
      .wrongDigest, "the bytes have \(difference.actual.text); expected is \(difference.expected.text)")
  }

  private static func source(of outcome: CacheOutcome) -> DownloadState.Source {
    switch outcome {
    case .hit: .cache
    case .validated: .validated
    case .forwarded, .shared, .unsatisfiable: .fetched
    }
  }

  /// Why this response begins at its first byte although an earlier attempt had some; nil if it goes on, or is
  /// the first.
  private func restart(
    to validators: ResponseValidators, length: Int64?, meter: DownloadMeter
  ) -> DownloadRestart? {
    guard item.hasBegun else { return nil }
    let isOther =
      validators != item.validators
      || (length != nil && item.expected != nil && length != item.expected)
    if isOther { return .changed }
    guard let exchange = meter.exchange, exchange.response?.status.code == 200 else { return nil }
    if exchange.request.headerFields[.range] != nil { return .rangeIgnored }
    return item.furthest > 0 ? .notKept : nil
  }

  /// - Throws: `DownloadFailure` with `fullDisk`.
  func requireSpace(_ bytes: Int64) throws(DownloadFailure) {
    for folder in [file?.folder, cache.configuration.directory] {
      guard let folder, let free = configuration.freeSpace(folder) else { continue }
      guard free.subtractingReportingOverflow(configuration.minimumFreeSpace).partialValue >= bytes else {
        throw DownloadFailure(
          .fullDisk,
          "\(folder) has \(free) free bytes; needed are \(bytes), and \(configuration.minimumFreeSpace) stay free"
        )
      }
    }
  }

  /// The part of this attempt, and whether the body is written to it as it arrives.
  private typealias WrittenPart = (file: PartFile, isWritten: Bool)

  /// Makes the part; nil without a destination. The body is written to it if the cache does not store the response,
  /// or if the destination cannot become a clone of what is stored, or a link to it: a copy at the end would take as
  /// long as the transfer on a fast network.
  ///
  /// - Throws: `DownloadFailure`, with `notStored` if there is no destination, and the cache does not store the response.
  private func part(for response: CacheResponse, meter: DownloadMeter) throws(DownloadFailure) -> WrittenPart?
  {
    var refusal: String?
    if case .forwarded(_, _, .doNotStore(let reason), _) = response.outcome { refusal = "\(reason)" }
    guard let file else {
      guard let refusal else { return nil }
      throw DownloadFailure(.notStored, "the cache does not store the response: \(refusal)")
    }
    let part = try PartFile(beside: file.path)
    let isWritten =
      refusal != nil || item.writesDirectly || isCopied(response, to: file) || keepsPart(part, for: response)
    var record: PartRecord?
    if isWritten, case .forwarded = response.outcome, let length = response.body.length, !meter.isDecoded {
      record = PartRecord(
        of: response.head, to: item.download.request, from: response.finalTarget, length: length,
        now: clock.now)
    }
    try part.begin(record, for: item.download.request)
    return (part, isWritten)
  }

  /// Whether the body goes to the part although the file becomes a clone of the stored body, or a link to it: the part has
  /// bytes of the file already, or a redirect may name another URL next time, under which the cache has nothing.
  private func keepsPart(_ part: PartFile, for response: CacheResponse) -> Bool {
    guard case .forwarded = response.outcome else { return false }
    return !response.redirects.isEmpty || !item.download.mirrors.isEmpty
      || part.record?.belongs(to: item.download.request) == true
  }

  private func isCopied(_ response: CacheResponse, to file: DestinationFile) -> Bool {
    guard response.body.source.stored == nil else { return false }
    guard let directory = cache.configuration.directory else { return true }
    let isLinked = item.download.linksEntry && Volume.isSame(file.folder, directory)
    return !isLinked && !Volume.sharesBlocks(of: file.folder, with: directory)
  }

  /// The digests that the caller expects. The cache verifies those that the origin states (RFC 9530) before it
  /// stores a body; of a body that is written to the destination, they are among these.
  private func digests(
    for response: CacheResponse, isWritten: Bool, meter: DownloadMeter
  ) throws(DownloadFailure) -> [IntegrityDigest] {
    var stated: [IntegrityDigest] = []
    if isWritten, !meter.isDecoded {
      let fields = response.head.headerFields
      // The content of a 200 is the whole representation.
      stated =
        IntegrityDigest.list(of: .representation, in: fields) + IntegrityDigest.list(of: .content, in: fields)
    }
    try requireDigests()
    return item.download.digests + stated
  }

  /// - Throws: `DownloadFailure` if the download has digests that cannot be computed.
  func requireDigests() throws(DownloadFailure) {
    guard !item.download.digests.isEmpty, DigestVerifier(item.download.digests) == nil else { return }
    throw DownloadFailure(.wrongDigest, "digests need the trait Crypto")
  }

  private func read(
    _ body: MessageBody, into part: PartFile?, verifier: inout DigestVerifier?, meter: DownloadMeter
  ) async throws {
    var position: Int64 = 0
    var checked: Int64 = 0
    while let bytes = try await body.source.next() {
      try Task.checkCancellation()
      verifier?.update(bytes)
      try await part?.append(bytes)
      position += Int64(bytes.count)
      meter.read(bytes.count)
      if position - checked >= Self.spaceStep {
        checked = position
        try requireSpace(0)
      }
    }
    // A cancelled source may end as if it were complete.
    try Task.checkCancellation()
    if let length = body.length, position != length {
      throw UpstreamError(.protocol, "the body ended at byte \(position) of \(length)")
    }
  }

  /// The free space is asked for each time so many bytes have arrived.
  static let spaceStep: Int64 = 16 << 20
}
