import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// A body from a tier, read two parts ahead. If the tier loses the body meanwhile, the rest comes from the origin if it
/// still has the same representation; otherwise the body breaks off. It never ends early as if it were complete.
final class SharedBodySource: BodySource {
  private typealias Part = Task<[UInt8]?, Never>
  private typealias Outcome = Result<[UInt8]?, SharedTierError>

  /// How to get the rest from the origin.
  struct Rest: Sendable {
    let origin: any Upstream
    let request: UpstreamRequest
    /// The request without the conditions of this cache.
    let presented: HTTPRequest
  }

  private struct State {
    /// The position in the representation of the next byte.
    var position: Int64
    var nextPart: Int
    var reading: [Part] = []
    var isCancelled = false
    /// The rest of the body from the origin.
    var rest: MessageBody?
  }

  private static let ahead = 2
  /// Attempts to read a part after the head was given.
  private static let attempts = 2
  /// How long the first part may take, before the head is given.
  private static let longestStart = Duration.milliseconds(500)

  private let body: SharedBody
  private let key: CacheKey
  private let range: Range<Int64>
  private let stored: StoredResponse
  private let fleet: Fleet
  private let rest: Rest
  private let state: Mutex<State>

  var length: Int64? { range.upperBound - range.lowerBound }

  /// - Parameters:
  ///   - key: the key of the record.
  ///   - range: the octets of the representation that are wanted.
  ///   - stored: the response of the body.
  init(
    _ body: SharedBody, of key: CacheKey, range: Range<Int64>, stored: StoredResponse, fleet: Fleet,
    rest: Rest
  ) {
    self.body = body
    self.key = key
    self.range = range
    self.stored = stored
    self.fleet = fleet
    self.rest = rest
    state = Mutex(
      State(
        position: range.lowerBound, nextPart: Int(clamping: range.lowerBound / Int64(SharedBody.partSize))))
  }

  deinit { cancel() }

  /// Reads the first part before the head is given: in one attempt, because the origin can still answer instead.
  ///
  /// - Returns: false if the tier no longer has the body.
  /// - Throws: `SharedTierError` if the part does not come in time.
  func begin() async throws(SharedTierError) -> Bool {
    guard !range.isEmpty else { return true }
    let number = state.withLock { $0.nextPart }
    let found = try await fleet.ask("read a body") { () async throws(SharedTierError) in
      try await part(number, within: Self.longestStart)
    }
    guard let bytes = found else { return false }
    let first: Part = Task(executorPreference: fleet.executor) { bytes }
    state.withLock { state in
      guard !state.isCancelled else { return }
      state.reading = [first]
      state.nextPart = number + 1
    }
    _ = readAhead()
    return true
  }

  func next() async throws -> BodyBytes? {
    let (position, other) = state.withLock { ($0.position, $0.isCancelled ? nil : $0.rest) }
    if let other { return try await nextOfRest(other, at: position) }
    guard position < range.upperBound, !state.withLock({ $0.isCancelled }) else { return nil }
    guard let part = readAhead() else { return nil }
    guard let bytes = await part.value else {
      try Task.checkCancellation()
      if state.withLock({ $0.isCancelled }) { return nil }
      let body = try await restFromOrigin(position)
      state.withLock { $0.rest = body }
      return try await nextOfRest(body, at: position)
    }
    let offset = Int(position % Int64(SharedBody.partSize))
    let count = Int(clamping: min(Int64(bytes.count - offset), range.upperBound - position))
    state.withLock { state in
      if !state.reading.isEmpty { state.reading.removeFirst() }
      state.position = position + Int64(count)
    }
    _ = readAhead()
    return BodyBytes(bytes[offset..<(offset + count)])
  }

  var trailers: HTTPFields {
    state.withLock { $0.position >= range.upperBound } ? stored.trailers : [:]
  }

  func cancel() {
    let (reading, rest) = state.withLock { state in
      state.isCancelled = true
      defer { (state.reading, state.rest) = ([], nil) }
      return (state.reading, state.rest)
    }
    for part in reading { part.cancel() }
    rest?.source.cancel()
  }

  // MARK: Parts

  /// Nil if the tier no longer has the part. A task that reads it keeps no source.
  private static func part(
    _ number: Int, of body: SharedBody, for key: CacheKey, in fleet: Fleet
  ) async throws(SharedTierError) -> [UInt8]? {
    let part = try await fleet.tier.parts(number..<(number + 1), of: body, for: key)?.first
    return part?.count == body.size(ofPart: number) ? part : nil
  }

  private func part(_ number: Int, within limit: Duration) async throws(SharedTierError) -> [UInt8]? {
    let reading: Task<Outcome, Never> = Task(executorPreference: fleet.executor) { [fleet, body, key] in
      do throws(SharedTierError) {
        return .success(try await Self.part(number, of: body, for: key, in: fleet))
      } catch {
        return .failure(error)
      }
    }
    let (outcome, isCancelled): (Outcome, Bool) = await withTaskCancellationHandler {
      await fleet.clock.limit(limit) {
        reading.cancel()
      } _: {
        (await reading.value, reading.isCancelled)
      }
    } onCancel: {
      reading.cancel()
    }
    guard !isCancelled || Task.isCancelled else {
      throw SharedTierError(
        .timeout, "the first part of a body took longer than \(limit.milliseconds) ms")
    }
    return try outcome.get()
  }

  /// Begins to read parts, until as many are being read as are read ahead.
  ///
  /// - Returns: the next part; nil if there is none.
  private func readAhead() -> Part? {
    state.withLock { state in
      let end = Int(clamping: (range.upperBound - 1) / Int64(SharedBody.partSize)) + 1
      while state.reading.count < Self.ahead, state.nextPart < end, !range.isEmpty, !state.isCancelled,
        state.rest == nil
      {
        state.reading.append(read(state.nextPart))
        state.nextPart += 1
      }
      return state.reading.first
    }
  }

  private func read(_ number: Int) -> Part {
    Task(executorPreference: fleet.executor) { [fleet, body, key] in
      // An error is not a lost part, and the answer breaks off without it. So the breaker, which late look-ups open, does
      // not keep the part from being read, and an error is followed by one more attempt.
      for _ in 0..<Self.attempts where !Task.isCancelled {
        do throws(SharedTierError) {
          return try await fleet.ask("read a body", isPastBreaker: true) {
            () async throws(SharedTierError) in
            try await Self.part(number, of: body, for: key, in: fleet)
          }
        } catch {
          // `ask` has told the observer.
        }
      }
      return nil
    }
  }

  // MARK: The rest

  private func nextOfRest(_ other: MessageBody, at position: Int64) async throws -> BodyBytes? {
    guard position < range.upperBound else { return nil }
    guard let bytes = try await other.source.next() else {
      throw UpstreamError(.protocol, "the body ended at byte \(position) of \(range.upperBound)")
    }
    let wanted = bytes.prefix(Int(clamping: range.upperBound - position))
    state.withLock { $0.position = position + Int64(wanted.count) }
    return wanted
  }

  /// The rest of the body from the origin (RFC 9110 §14.2, §13.1.5).
  private func restFromOrigin(_ position: Int64) async throws -> MessageBody {
    for part in state.withLock({ $0.reading }) { part.cancel() }
    guard PartialContent.isResumable(stored) else {
      throw UpstreamError(.protocol, "the tier lost the body at byte \(position) of \(body.length)")
    }
    var request = rest.request
    request.head = PartialContent.request(
      rest.presented.unconditional(keepsRange: false), completing: stored,
      missing: position..<range.upperBound,
      length: body.length)
    request.onInterim = nil
    let response = try await rest.origin.send(request)
    guard
      PartialContent.range(
        of: response.head, in: stored, length: body.length, receivedAt: fleet.clock.now)
        == position..<range.upperBound, !response.isContentDecoded
    else {
      response.body.source.cancel()
      throw UpstreamError(
        .protocol, "the tier lost the body at byte \(position), and the origin has another representation")
    }
    return response.body
  }
}
