import HTTPCacheSemantics
import HTTPCaching

extension DownloadAttempt {
  /// The range that is asked for before the length is known.
  private static let firstRange: Range<Int64> = 0..<1 << 20

  /// Receives the file as ranges into its part, several at once if the download has segments.
  ///
  /// - Returns: nil if the file must be received as one stream through the cache.
  func runRanges(
    _ request: HTTPRequest, occupant: DestinationFile.Occupant?, meter: DownloadMeter
  ) async throws -> AttemptEnd? {
    guard let file, occupant != .placed else { return nil }
    var transfer = try continued(file, request: request, meter: meter)
    if transfer == nil {
      // A stored file is validated, and no second copy of it is fetched.
      guard item.download.segments > 1, !item.usesOneStream, stored(request, nil) == nil else { return nil }
    }
    var changes = item.changes
    var restart: DownloadRestart? = item.furthest > 0 ? .notKept : nil
    while true {
      do {
        if transfer == nil {
          transfer = try await begin(file, request: request, meter: meter, restart: restart)
        }
        guard let transfer else { return nil }
        return try await receive(transfer, at: file)
      } catch let stop as RangeStop {
        let hasBegun = transfer != nil
        // The bytes stay until all of the next response has come, and tell which length it must have.
        await transfer?.part.keep()
        transfer?.part.close()
        (transfer, restart) = (nil, nil)
        meter.startsOver(withReached: 0)
        if stop != .changed {
          if stop == .oneStream { tell(.oneStream(isRestart: hasBegun)) }
          return nil
        }
        changes += 1
        tell(.head(ResponseValidators(), expected: nil, restart: .changed))
        if changes > configuration.restartLimit {
          throw DownloadFailure(.changed, "the file changed \(changes) times during the download")
        }
      }
    }
  }

  /// How to continue the part of which the cache has about as many bytes; nil if there is none. Segments always arrive in
  /// the part.
  func coveredPart(
    by request: HTTPRequest, occupant: DestinationFile.Occupant?
  ) async -> PartContinuation? {
    guard let file, occupant != .placed, item.download.segments == 1, !item.usesOneStream,
      let part = PartFile(existingBeside: file.path)
    else { return nil }
    defer { part.close() }
    guard let found = PartContinuation(of: item.download.request, part: part, policy: .standard),
      await found.isCovered(by: cache, for: request, partition: options.partition)
    else { return nil }
    return found
  }

  /// The file that an earlier attempt began; nil if nothing of it is there.
  private func continued(
    _ file: DestinationFile, request: HTTPRequest, meter: DownloadMeter
  ) throws(DownloadFailure) -> RangedTransfer? {
    guard !item.usesOneStream, let part = PartFile(existingBeside: file.path), let record = part.record,
      record.belongs(to: item.download.request),
      let transfer = RangedTransfer(of: part, for: request, attempt: self, meter: meter)
    else { return nil }
    try part.resume()
    if item.validators != record.validators {
      tell(.head(record.validators, expected: record.length, restart: nil))
    }
    return transfer
  }

  /// Asks for the first range, and makes the part.
  private func begin(
    _ file: DestinationFile, request: HTTPRequest, meter: DownloadMeter, restart: DownloadRestart?
  ) async throws -> RangedTransfer {
    var first = request.withoutConditions
    first.headerFields[.range] = "bytes=0-\(Self.firstRange.upperBound - 1)"
    let response = try await ask(first, meter: meter)
    do {
      var head = response.head
      if head.status.code == 200 || head.status.code == 416 { throw RangeStop.oneStream }
      if head.status.code != 206 {
        try requireRepeatable(head.status.code)
        try check(response)
      }
      guard case (let range, let length?)? = PartialContent.part(of: head), range.lowerBound == 0,
        range.upperBound <= length, !meter.isDecoded
      else { throw RangeStop.oneStream }
      head.status = .ok
      guard
        let record = PartRecord(
          of: head, to: item.download.request, from: response.finalTarget, length: length, now: clock.now)
      else { throw RangeStop.oneStream }
      try requireSpace(length)
      let part = try PartFile(beside: file.path)
      if let known = part.record, known.belongs(to: item.download.request),
        let text = known.contradiction(of: record.whole(head, length: length), now: clock.now)
      {
        throw known.failure(for: text)
      }
      try part.begin(record)
      tell(.head(record.validators, expected: length, restart: restart))
      guard
        let transfer = RangedTransfer(
          of: part, for: request, attempt: self, meter: meter, first: (response, range))
      else { throw RangeStop.oneStream }
      return transfer
    } catch {
      response.body.source.cancel()
      throw error
    }
  }

  /// - Throws: `RangeStop.error` for a status that may be about the range alone: an error, and a success without the file.
  func requireRepeatable(_ status: Int) throws(RangeStop) {
    if !PartContinuation.mayReplacePart(status: status) { throw .error }
  }

  /// Asks for a range. Bypasses the cache, which has one writer for a response: these are several.
  func ask(_ request: HTTPRequest, meter: DownloadMeter) async throws -> CacheResponse {
    try await cache.respond(to: request, policy: .bypass, options: options, via: metered(meter))
  }

  /// Receives what is missing, checks the file and puts it at its destination.
  private func receive(_ transfer: RangedTransfer, at file: DestinationFile) async throws -> AttemptEnd {
    let (part, meter) = (transfer.part, transfer.meter)
    if !transfer.isComplete {
      try requireSpace(transfer.length - transfer.received)
      meter.arrives(at: transfer.received)
      tell(.state(.receiving))
      do { try await transfer.run() } catch {
        if !(error is RangeStop) { await part.keep() }
        throw error
      }
    }
    tell(.state(.verifying))
    try requireDigests()
    if let difference = try await part.difference(from: item.download.digests) {
      part.discard()
      meter.arrives(at: 0)
      throw wrongDigest(difference)
    }
    try place(part, at: file, validators: transfer.record.validators)
    await transfer.adopt(file)
    return .done(.fetched, received: transfer.length)
  }
}
