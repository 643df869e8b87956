import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// Why ranges cannot go on.
private enum RangeStop: Error {
  /// The origin takes no ranges, or has no validator that tells whether ranges belong together.
  case oneStream
  /// The representation has another validator or length than before.
  case changed
}

/// A representation that is received as ranges.
private struct RangedFile: Sendable {
  let progress: RangeProgress
  let part: PartFile
  let length: Int64
  let validator: StrongValidator
  let validators: ResponseValidators
  /// The head of the latest 206; nil if nothing was asked.
  let head = KeptHead()
  /// The answer that told length and validator, and has not been read; nil for a file that is continued.
  var first: (response: CacheResponse, range: Range<Int64>)?
}

extension DownloadAttempt {
  /// The range that is asked for before the length is known.
  private static let firstRange: Range<Int64> = 0..<1 << 20
  /// An origin that answers with fewer bytes of a longer range is asked for the whole file.
  private static let shortestRange = 64 << 10

  /// Receives the file as ranges into its part file, several at once if the download has segments.
  ///
  /// - Returns: nil if the file must be received as one stream through the cache.
  func runRanges(
    _ request: HTTPRequest, _ occupant: DestinationFile.Occupant?, _ meter: DownloadMeter
  ) async throws -> AttemptEnd? {
    guard let file, occupant != .placed,
      item.part != nil || (item.download.segments > 1 && !item.usesOneStream)
    else { return nil }
    var changes = item.changes
    var ranged = continued(file)
    var restart: DownloadRestart? = item.furthest > 0 ? .notKept : nil
    // A stored file is validated, and no second copy of it is fetched.
    if ranged == nil, item.part == nil, stored(request, nil) != nil { return nil }
    while true {
      do {
        if ranged == nil { ranged = try await begin(file, request, meter, restart) }
        guard let ranged else { return nil }
        return try await receive(ranged, file, request, meter)
      } catch RangeStop.oneStream {
        forgetPart(file, meter)
        tell(.oneStream(isRestart: ranged != nil))
        return nil
      } catch RangeStop.changed {
        (ranged, restart) = (nil, nil)
        forgetPart(file, meter)
        changes += 1
        tell(.head(ResponseValidators(), expected: nil, restart: .changed))
        if changes > configuration.restartLimit {
          throw DownloadFailure(.changed, "the file changed \(changes) times during the download")
        }
      }
    }
  }

  private func forgetPart(_ file: DestinationFile, _ meter: DownloadMeter) {
    keep(nil)
    file.removePart()
    meter.arrives(at: nil)
  }

  /// The file that an earlier attempt began; nil if nothing of it is there.
  private func continued(_ file: DestinationFile) -> RangedFile? {
    guard let record = item.part, let part = PartFile(file, continuing: record),
      let validator = StrongValidator(value: item.validators.eTag ?? item.validators.lastModified)
    else { return nil }
    return RangedFile(
      progress: RangeProgress(record, workers: item.download.segments), part: part, length: record.length,
      validator: validator, validators: item.validators)
  }

  /// Asks for the first range, and makes the part file.
  private func begin(
    _ file: DestinationFile, _ request: HTTPRequest, _ meter: DownloadMeter, _ restart: DownloadRestart?
  ) async throws -> RangedFile {
    let response = try await ask(request, Self.firstRange, nil, meter)
    do {
      let head = response.head
      if head.status.code == 200 || head.status.code == 416 { throw RangeStop.oneStream }
      if head.status.code != 206 { try check(response) }
      guard case (let range, let length?)? = PartialContent.part(of: head), range.lowerBound == 0,
        range.upperBound <= length, !meter.isDecoded,
        let validator = StrongValidator(head.headerFields, receivedAt: clock.now)
      else { throw RangeStop.oneStream }
      try requireSpace(length)
      let part = try PartFile(new: file)
      let progress = RangeProgress(
        PartRecord(inode: part.inode, length: length), workers: item.download.segments)
      let ranged = RangedFile(
        progress: progress, part: part, length: length, validator: validator,
        validators: ResponseValidators(head.headerFields), first: (response, range))
      progress.take(range)
      tell(.head(ranged.validators, expected: length, restart: restart))
      keep(progress.record)
      return ranged
    } catch {
      response.body.source.cancel()
      throw error
    }
  }

  /// Receives what is missing, checks the file and puts it at its destination.
  private func receive(
    _ ranged: RangedFile, _ file: DestinationFile, _ request: HTTPRequest, _ meter: DownloadMeter
  ) async throws -> AttemptEnd {
    if !ranged.progress.isComplete {
      try requireSpace(ranged.length - ranged.progress.received)
      meter.arrives(at: ranged.progress.received)
      tell(.state(.receiving))
      try await transfer(ranged, request, meter)
    }
    tell(.state(.verifying))
    if let algorithm = try await mismatch(of: ranged) {
      forgetPart(file, meter)
      throw DownloadFailure(.wrongDigest, "the bytes do not have their \(algorithm.rawValue) digest")
    }
    try place(file, ranged.validators, mode: ranged.part.mode)
    keep(nil)
    await adopt(ranged, file, request)
    return .done(.fetched, received: ranged.length)
  }

  /// Makes the finished file an entry of the cache, as far as the cache stores the response.
  private func adopt(_ ranged: RangedFile, _ file: DestinationFile, _ request: HTTPRequest) async {
    guard let answer = ranged.head.value else { return }
    var head = answer.head
    head.status = .ok
    head.headerFields[.contentRange] = nil
    if let digest = HTTPField.Name("Content-Digest") { head.headerFields[digest] = nil }
    head.headerFields[.contentLength] = String(ranged.length)
    let request = Self.request(request, at: answer.target).withoutConditions
    // The file is at its destination, whether the cache takes it or not. The observer is told why it does not.
    _ = try? await cache.adopt(file: file.path, response: head, for: request)
  }

  /// Runs as many tasks as the download has segments until no range is missing.
  private func transfer(
    _ ranged: RangedFile, _ request: HTTPRequest, _ meter: DownloadMeter
  ) async throws {
    let first = ranged.first
    // Without effect on a body that was read to its end.
    defer { first?.response.body.source.cancel() }
    // A failed attempt leaves a record of all that was written.
    defer { keep(ranged.progress.record) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<max(1, item.download.segments) {
        group.addTask {
          if worker == 0, let first { try await read(first.response, first.range, ranged, meter) }
          while let range = ranged.progress.take() { try await fetch(range, of: ranged, request, meter) }
        }
      }
      try await group.waitForAll()
    }
    guard ranged.progress.isComplete else { throw UpstreamError(.protocol, "ranges of the file are missing") }
  }

  private func fetch(
    _ range: Range<Int64>, of ranged: RangedFile, _ request: HTTPRequest, _ meter: DownloadMeter
  ) async throws {
    let response = try await ask(request, range, ranged.validator, meter)
    do {
      try await read(response, try accept(response, range, ranged, meter), ranged, meter)
    } catch {
      response.body.source.cancel()
      throw error
    }
  }

  private func ask(
    _ request: HTTPRequest, _ range: Range<Int64>, _ validator: StrongValidator?, _ meter: DownloadMeter
  ) async throws -> CacheResponse {
    var request = request.withoutConditions
    request.headerFields[.range] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
    if let validator {
      request.headerFields[fields: .ifRange] = [HTTPField(name: .ifRange, value: validator.value)]
    }
    // The cache has one writer for a response, and these are several.
    return try await cache.respond(
      to: request, policy: .bypass, options: options, via: metered(meter))
  }

  /// The octets of a 206 that belongs to the file, at most those that were asked for.
  ///
  /// - Throws: `RangeStop` for any other answer with the file; `DownloadFailure`.
  private func accept(
    _ response: CacheResponse, _ asked: Range<Int64>, _ ranged: RangedFile, _ meter: DownloadMeter
  ) throws -> Range<Int64> {
    let head = response.head
    let validator = StrongValidator(head.headerFields, receivedAt: clock.now)
    switch head.status.code {
    case 200, 203: throw validator == ranged.validator ? RangeStop.oneStream : .changed
    case 416: throw RangeStop.changed
    case 206: break
    default:
      try check(response)
      throw RangeStop.oneStream
    }
    guard let (range, length) = PartialContent.part(of: head), !meter.isDecoded else {
      throw RangeStop.oneStream
    }
    if let validator {
      if validator != ranged.validator { throw RangeStop.changed }
    } else if ranged.validators.eTag != nil {
      // A 206 may leave out the date that `If-Range` confirmed, but not the ETag (RFC 9110 §15.3.7).
      throw RangeStop.oneStream
    }
    if let length, length != ranged.length { throw RangeStop.changed }
    guard range.lowerBound == asked.lowerBound, range.upperBound <= asked.upperBound else {
      throw RangeStop.oneStream
    }
    // An origin that sends much less than was asked for would make a request of every few bytes.
    guard range.upperBound == asked.upperBound || range.count >= Self.shortestRange else {
      throw RangeStop.oneStream
    }
    ranged.progress.giveBack(range.upperBound..<asked.upperBound)
    return range
  }

  private func read(
    _ response: CacheResponse, _ range: Range<Int64>, _ ranged: RangedFile, _ meter: DownloadMeter
  ) async throws {
    ranged.head.set(response)
    var position = range.lowerBound
    while let bytes = try await response.body.source.next() {
      try Task.checkCancellation()
      let end = position + Int64(bytes.count)
      guard end <= range.upperBound else {
        throw UpstreamError(.protocol, "more bytes than Content-Range states")
      }
      try await write(bytes, at: position, of: ranged.progress, to: ranged.part)
      position = end
    }
    try Task.checkCancellation()
    guard position == range.upperBound else {
      throw UpstreamError(.protocol, "the range ended at byte \(position) of \(range.upperBound)")
    }
  }

  /// Writes bytes, and saves and syncs what has arrived from time to time.
  func write(
    _ bytes: BodyBytes, at position: Int64, of progress: RangeProgress, to part: PartFile
  ) async throws {
    try await part.write(bytes, at: position)
    guard let record = progress.wrote(position..<position + Int64(bytes.count)) else { return }
    keep(record)
    guard let ranges = progress.beginSync() else { return }
    try requireSpace(0)
    try await part.sync()
    progress.endSync(ranges)
  }

  /// The first digest that the bytes of the part file do not have; nil if they have all.
  private func mismatch(of ranged: RangedFile) async throws -> IntegrityDigest.Algorithm? {
    let stated =
      ranged.head.value.map { IntegrityDigest.list(of: .representation, in: $0.head.headerFields) } ?? []
    guard var verifier = DigestVerifier(item.download.digests + stated) else {
      if item.download.digests.isEmpty { return nil }
      throw DownloadFailure(.wrongDigest, "digests need the trait Crypto")
    }
    var position: Int64 = 0
    while position < ranged.length {
      let bytes = try await ranged.part.read(at: position)
      if bytes.isEmpty { throw DownloadFailure(.io, "the part file ended at byte \(position)") }
      verifier.update(BodyBytes(bytes))
      position += Int64(bytes.count)
      try Task.checkCancellation()
    }
    return verifier.mismatch()
  }
}
