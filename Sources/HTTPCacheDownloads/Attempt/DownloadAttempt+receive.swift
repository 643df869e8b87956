import HTTPCacheSemantics
import HTTPCaching

extension DownloadAttempt {
  /// Reads the body to its end, checks it and puts it at the destination.
  func receive(
    _ response: CacheResponse, to request: HTTPRequest, _ meter: DownloadMeter
  ) async throws -> AttemptEnd {
    let validators = ResponseValidators(response.head.headerFields)
    let length = response.body.length
    let restart = restart(validators, length, meter)
    tell(.head(validators, expected: length, restart: restart))
    if restart == .changed, item.changes >= configuration.restartLimit {
      throw DownloadFailure(.changed, "the file changed \(item.changes + 1) times during the download")
    }
    try requireSpace(length.map { max(0, $0 - meter.received) } ?? 0)
    let writer = try directWriter(for: response, length, meter) ?? copyWriter(for: response)
    let mode = try writer?.part.mode ?? file?.modeOfNewFile()
    var verifier = try verifier(for: response, isWritten: writer != nil, meter)
    let source = Self.source(of: response.outcome)
    // A redirect on the way need not be stored.
    let request = Self.request(request, at: response.finalTarget)
    // Stored bytes that no digest is asked of need not be read.
    let isStored = response.body.source.stored != nil && writer == nil && verifier == nil
    if !isStored {
      tell(.state(.receiving))
      try await read(response.body, into: writer, &verifier, meter)
    }
    tell(.state(.verifying))
    if let algorithm = verifier?.mismatch() {
      await cache.removeStored(for: request)
      keep(nil)
      throw DownloadFailure(.wrongDigest, "the bytes do not have their \(algorithm.rawValue) digest")
    }
    let received = isStored ? length ?? 0 : meter.received
    guard let file, let mode else {
      try requireStored(request, validators)
      return .done(source, received: received)
    }
    if writer == nil {
      try await clone(isStored ? response : nil, to: file, request, validators)
    }
    try place(file, validators, mode: mode)
    if writer != nil { keep(nil) }
    return .done(source, received: received)
  }

  private static func source(of outcome: CacheOutcome) -> DownloadState.Source {
    switch outcome {
    case .hit: .cache
    case .validated: .validated
    case .forwarded, .unsatisfiable: .fetched
    }
  }

  /// Why this response begins at its first byte although an earlier attempt had some; nil if it goes on, or is
  /// the first.
  private func restart(
    _ validators: ResponseValidators, _ length: Int64?, _ meter: DownloadMeter
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

  /// Writes the body to the part file as it arrives.
  struct DirectWriter: Sendable {
    let part: PartFile
    /// Nil if the body cannot be continued after a break.
    let progress: RangeProgress?
  }

  /// The writer to the destination if the cache does not store the response.
  ///
  /// - Throws: `DownloadFailure` with `notStored` if there is no destination either.
  private func directWriter(
    for response: CacheResponse, _ length: Int64?, _ meter: DownloadMeter
  ) throws(DownloadFailure) -> DirectWriter? {
    var refusal: String?
    if case .forwarded(_, _, .doNotStore(let reason), _) = response.outcome { refusal = "\(reason)" }
    guard let file else {
      guard let refusal else { return nil }
      throw DownloadFailure(.notStored, "the cache does not store the response: \(refusal)")
    }
    guard refusal != nil || item.writesDirectly else { return nil }
    let part = try PartFile(new: file)
    guard let length, !item.usesOneStream, !meter.isDecoded,
      StrongValidator(response.head.headerFields, receivedAt: clock.now) != nil
    else { return DirectWriter(part: part, progress: nil) }
    let progress = RangeProgress(PartRecord(inode: part.inode, length: length), workers: 1)
    keep(progress.record)
    return DirectWriter(part: part, progress: progress)
  }

  /// The writer of a copy at the destination, while the cache stores the body; nil if the destination will be a
  /// clone of what is stored, or a link to it. A copy at the end would take as long as the transfer on a fast network.
  private func copyWriter(for response: CacheResponse) throws(DownloadFailure) -> DirectWriter? {
    guard let file, response.body.source.stored == nil else { return nil }
    if let directory = cache.configuration.directory {
      let isLinked = item.download.linksEntry && BlockSharing.isOneVolume(file.folder, directory)
      if isLinked || BlockSharing.isPossible(between: file.folder, and: directory) { return nil }
    }
    return DirectWriter(part: try PartFile(new: file), progress: nil)
  }

  /// Computes the digests that the caller expects. The cache verifies those that the origin states (RFC 9530)
  /// before it stores a body; of a body that is written to the destination, they are computed here.
  private func verifier(
    for response: CacheResponse, isWritten: Bool, _ meter: DownloadMeter
  ) throws(DownloadFailure) -> DigestVerifier? {
    var stated: [IntegrityDigest] = []
    if isWritten, !meter.isDecoded {
      let fields = response.head.headerFields
      // The content of a 200 is the whole representation.
      stated =
        IntegrityDigest.list(of: .representation, in: fields) + IntegrityDigest.list(of: .content, in: fields)
    }
    let expected = item.download.digests + stated
    let verifier = DigestVerifier(expected)
    if verifier == nil, !item.download.digests.isEmpty {
      throw DownloadFailure(.wrongDigest, "digests need the trait Crypto")
    }
    return verifier
  }

  private func read(
    _ body: MessageBody, into writer: DirectWriter?, _ verifier: inout DigestVerifier?,
    _ meter: DownloadMeter
  ) async throws {
    let step: Int64 = 16 << 20
    var position: Int64 = 0
    var checked: Int64 = 0
    defer { if let progress = writer?.progress { keep(progress.record) } }
    while let bytes = try await body.source.next() {
      try Task.checkCancellation()
      verifier?.update(bytes)
      if let progress = writer?.progress, let part = writer?.part {
        try await write(bytes, at: position, of: progress, to: part)
      } else {
        try await writer?.part.write(bytes, at: position)
      }
      position += Int64(bytes.count)
      meter.read(bytes.count)
      if position - checked >= step {
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
}
