import HTTPCacheSemantics
import HTTPCaching
import Synchronization

/// The exchanges of an attempt with the origin, and its progress. The transfer and its reader write to the meter.
final class DownloadMeter: Sendable {
  /// A request and the head of its response, as the origin saw them.
  struct Exchange: Sendable {
    var request: HTTPRequest
    var response: HTTPResponse?
  }

  /// How far an attempt is.
  struct Progress: Sendable {
    var received: Int64
    var rate: Double
  }

  private struct State {
    var exchange: Exchange?
    /// The position in the representation of the next byte from the origin; nil before its response.
    var position: Int64?
    /// The position of the reader.
    var read: Int64 = 0
    /// Bytes of the file that are there, if ranges of it arrive out of order.
    var arrived: Int64?
    var hasBroken = false

    /// The highest `received` after bytes of the file were read, not only those of an answer without the file.
    var reached: Int64 = 0

    var received: Int64 { arrived ?? max(read, position ?? 0) }
    var isDecoded = false
    var rate: RateMeter
    var reported: Duration?
  }

  private let state: Mutex<State>
  private let clock: any CacheClock
  private let onProgress: @Sendable (Progress) -> Void
  /// The shortest time between two reports.
  private static let pause = Duration.milliseconds(100)

  init(clock: any CacheClock, onProgress: @escaping @Sendable (Progress) -> Void) {
    self.clock = clock
    self.onProgress = onProgress
    state = Mutex(State(rate: RateMeter(at: clock.uptime)))
  }

  /// The last exchange with the origin; nil if the origin was not asked.
  var exchange: Exchange? { state.withLock { $0.exchange } }
  /// Whether the origin's body ended with an error of the connection.
  var hasBroken: Bool { state.withLock { $0.hasBroken } }

  /// Whether a content coding was removed from the origin's body.
  var isDecoded: Bool { state.withLock { $0.isDecoded } }

  /// Bytes of the representation that are there.
  var received: Int64 {
    state.withLock { $0.received }
  }

  /// How far in the file the bytes came that this attempt read; 0 if it read none.
  var reached: Int64 { state.withLock { $0.reached } }

  func sends(_ request: HTTPRequest) {
    state.withLock {
      $0.exchange = Exchange(request: request)
      $0.position = nil
    }
  }

  func receives(_ response: HTTPResponse, isDecoded: Bool) {
    state.withLock { state in
      state.isDecoded = isDecoded
      state.exchange?.response = response
      state.position = PartialContent.part(of: response)?.range.lowerBound ?? 0
    }
  }

  func fetched(_ bytes: Int) {
    change { state, uptime in
      state.position = (state.position ?? 0) + Int64(bytes)
      state.rate.add(Int64(bytes), at: uptime)
    }
  }

  /// The reader got bytes, from the origin or from the store.
  func read(_ bytes: Int) {
    change { state, uptime in
      state.read += Int64(bytes)
      state.reached = max(state.reached, state.received)
      // Another request's transfer brings these bytes.
      if state.position == nil { state.rate.add(Int64(bytes), at: uptime) }
    }
  }

  /// Bytes of a range were written. A range that fails is fetched again: its fetched bytes would count twice.
  func wrote(_ bytes: Int) {
    change { state, _ in
      state.arrived? += Int64(bytes)
      state.reached = max(state.reached, state.received)
    }
  }

  /// Ranges arrive out of order, or bytes were removed.
  ///
  /// - Parameter received: the bytes that are there.
  func arrives(at received: Int64) { state.withLock { $0.arrived = received } }

  /// The next response is read from its beginning.
  ///
  /// - Parameter reached: 0 if it may be of another representation; nil leaves what was reached.
  func startsOver(withReached reached: Int64? = nil) {
    state.withLock { state in
      (state.arrived, state.position, state.read) = (nil, nil, 0)
      state.reached = reached ?? state.reached
    }
  }

  func broke() { state.withLock { $0.hasBroken = true } }

  private func change(_ body: (inout State, Duration) -> Void) {
    let uptime = clock.uptime
    let progress = state.withLock { state -> Progress? in
      body(&state, uptime)
      if let reported = state.reported, uptime - reported < Self.pause { return nil }
      state.reported = uptime
      return Progress(
        received: state.received, rate: state.rate.bytesPerSecond)
    }
    if let progress { onProgress(progress) }
  }
}
