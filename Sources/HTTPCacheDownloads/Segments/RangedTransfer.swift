import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import Synchronization

/// Why ranges cannot go on.
enum RangeStop: Error {
  /// The origin takes no ranges, or has no validator that tells whether ranges belong together.
  case oneStream
  /// The origin answers a range with an error: the whole is asked for once.
  case error
  /// The representation has another validator or length than before.
  case changed
}

/// The transfer of the missing ranges of a file into its part, by several tasks at once.
final class RangedTransfer: Sendable {
  let attempt: DownloadAttempt
  let request: HTTPRequest
  let meter: DownloadMeter
  let part: PartFile
  let record: PartRecord
  let length: Int64
  /// The answer that told length and validator, and has not been read; nil for a file that is continued.
  private let first: (response: CacheResponse, range: Range<Int64>)?
  private let plan: RangePlan
  /// The head of the latest 206, and the URL that it came from after redirects; nil if nothing was asked.
  private let head = Mutex<(head: HTTPResponse, target: String)?>(nil)

  /// An origin that answers with fewer bytes of a longer range is asked for the whole file.
  private static let shortestRange = 64 << 10

  /// - Returns: nil if the part has no record, or the length is unknown.
  init?(
    of part: PartFile, for request: HTTPRequest, attempt: DownloadAttempt, meter: DownloadMeter,
    first: (response: CacheResponse, range: Range<Int64>)? = nil
  ) {
    guard let record = part.record, let length = record.length else { return nil }
    (self.attempt, self.request, self.meter, self.part) = (attempt, request, meter, part)
    (self.record, self.length, self.first) = (record, length, first)
    let taken = first.map { [$0.range] } ?? part.kept
    plan = RangePlan(PartState.missing(taken, of: length), workers: attempt.item.download.segments)
  }

  var received: Int64 { StoredRanges.count(part.kept) }
  var isComplete: Bool { part.kept == [0..<length] }

  /// Runs as many tasks as the download has segments until no range is missing.
  func run() async throws {
    // Without effect on a body that was read to its end.
    defer { first?.response.body.source.cancel() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<max(1, attempt.item.download.segments) {
        group.addTask { [self] in
          if worker == 0, let first { try await read(first.response, range: first.range) }
          try await fetchRanges(worker)
        }
      }
      try await group.waitForAll()
    }
    guard isComplete else { throw UpstreamError(.protocol, "ranges of the file are missing") }
  }

  /// Fetches ranges until none is left: from one URL of the file for each task, and from the URL of the attempt once a
  /// mirror has failed or has another file.
  private func fetchRanges(_ worker: Int) async throws {
    var source = request
    do { source = try await self.source(of: worker) } catch { try Task.checkCancellation() }
    while let range = plan.take() {
      do { try await fetch(range, source) } catch {
        guard source != request, !Task.isCancelled else { throw error }
        source = request
        // Some of its bytes may have been written.
        for missing in PartState.missing(part.kept, of: length) { plan.giveBack(missing.clamped(to: range)) }
      }
    }
  }

  private func source(of worker: Int) async throws -> HTTPRequest {
    let download = attempt.item.download
    // Bytes of two URLs belong together only by their entity tag.
    guard worker > 0, !download.mirrors.isEmpty, record.validators.eTag != nil else { return request }
    return try await attempt.request(number: attempt.item.tries + worker).withoutConditions
  }

  private func fetch(_ range: Range<Int64>, _ request: HTTPRequest) async throws {
    let response = try await attempt.ask(record.request(request, for: range), meter: meter)
    do {
      try await read(response, range: try accept(response, asked: range))
    } catch {
      response.body.source.cancel()
      throw error
    }
  }

  /// The octets of a 206 that belongs to the file, at most those that were asked for.
  ///
  /// - Throws: `RangeStop` for any other answer with the file; `DownloadFailure`.
  private func accept(_ response: CacheResponse, asked: Range<Int64>) throws -> Range<Int64> {
    switch record.answer(response.head, from: nil, to: asked, now: attempt.clock.now) {
    case .rest(let range):
      // Without an entity tag, the next redirect may name another URL again: one stream comes from one URL.
      guard record.mayBeSame(target: response.finalTarget) else { throw RangeStop.oneStream }
      // An origin that sends much less than was asked for would make a request of every few bytes.
      guard !meter.isDecoded, range.upperBound == asked.upperBound || range.count >= Self.shortestRange
      else { throw RangeStop.oneStream }
      plan.giveBack(range.upperBound..<asked.upperBound)
      return range
    case .whole(let isChanged), .useless(let isChanged): throw isChanged ? RangeStop.changed : .oneStream
    case .contradictory(let text): throw record.failure(for: text)
    case .failure:
      try attempt.requireRepeatable(response.head.status.code)
      try attempt.check(response)
      throw RangeStop.oneStream
    }
  }

  private func read(_ response: CacheResponse, range: Range<Int64>) async throws {
    do { try await write(response, range: range) } catch let error as UpstreamError
      where error.cause is LengthContradiction
    {
      part.drop(range)
      meter.arrives(at: received)
      throw RangeStop.oneStream
    }
    head.withLock { $0 = (response.head, response.finalTarget) }
  }

  private func write(_ response: CacheResponse, range: Range<Int64>) async throws {
    let body = try record.body(of: response, now: attempt.clock.now)
    var position = range.lowerBound
    var checked = position
    while let bytes = try await body.source.next() {
      try Task.checkCancellation()
      try await part.write(bytes, at: position)
      meter.wrote(bytes.count)
      position += Int64(bytes.count)
      if position - checked >= DownloadAttempt.spaceStep {
        checked = position
        try attempt.requireSpace(0)
      }
    }
    try Task.checkCancellation()
  }

  /// Makes the finished file an entry of the cache, as far as the cache stores the response.
  func adopt(_ file: DestinationFile) async {
    guard let answer = head.withLock({ $0 }) else { return }
    let head = record.whole(answer.head, after: first?.response.head.headerFields, length: length)
    let request = attempt.options.adding(
      to: DownloadAttempt.request(request, at: answer.target).withoutConditions)
    // The file is at its destination, whether the cache takes it or not. The observer is told why it does not.
    _ = try? await attempt.cache.adopt(file: file.path, response: head, for: request)
  }
}
