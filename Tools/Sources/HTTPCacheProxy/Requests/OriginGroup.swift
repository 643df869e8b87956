import HTTPCaching
public import NIOCore
import Synchronization

/// The addresses of one upstream. Requests take them in turn, and leave out those that fail.
public final class OriginGroup: Sendable {
  private struct State {
    var next = 0
    /// Failures in a row of each address.
    var failures: [Int]
    /// The time until which an address is left out.
    var pausedUntil: [NIODeadline?]
  }

  /// The origin that responses are stored under, and whose authority is the `Host` of requests.
  public let origin: Origin
  /// The origins to connect to.
  public let addresses: [Origin]
  private let failureLimit: Int
  private let pause: TimeAmount
  private let state: Mutex<State>

  /// Makes a group of one address.
  public convenience init(_ origin: Origin) { self.init(origin, addresses: [origin]) }

  /// Makes a group.
  ///
  /// - Parameters:
  ///   - origin: see `origin`.
  ///   - addresses: see `addresses`; none is `origin` alone.
  ///   - failureLimit: the number of failures in a row after which an address is left out.
  ///   - pause: how long it is left out.
  public init(
    _ origin: Origin, addresses: [Origin], failureLimit: Int = 3, pause: TimeAmount = .seconds(10)
  ) {
    self.origin = origin
    self.addresses = addresses.isEmpty ? [origin] : addresses
    self.failureLimit = max(1, failureLimit)
    self.pause = pause
    let count = self.addresses.count
    state = Mutex(
      State(failures: Array(repeating: 0, count: count), pausedUntil: Array(repeating: nil, count: count)))
  }

  /// Whether requests go to the origin that they name.
  var isPlain: Bool { addresses == [origin] }

  /// The addresses in the order in which a request tries them: the next one first, those that are left out last.
  func order(now: NIODeadline = .now()) -> [Int] {
    state.withLock { state in
      let turn = addresses.indices.map { (state.next + $0) % addresses.count }
      state.next = (state.next + 1) % addresses.count
      let pausedUntil = state.pausedUntil
      let isPaused = { (index: Int) in (pausedUntil[index] ?? now) > now }
      return turn.filter { !isPaused($0) } + turn.filter(isPaused)
    }
  }

  /// Notes that an address answered.
  func succeeded(_ index: Int) {
    state.withLock { state in
      state.failures[index] = 0
      state.pausedUntil[index] = nil
    }
  }

  /// Notes that an address could not be reached or did not answer.
  ///
  /// - Returns: whether it is left out from now on, and was not before.
  func failed(_ index: Int, now: NIODeadline = .now()) -> Bool {
    state.withLock { state in
      state.failures[index] += 1
      guard state.failures[index] >= failureLimit else { return false }
      let wasPaused = (state.pausedUntil[index] ?? now) > now
      state.pausedUntil[index] = now + pause
      return !wasPaused
    }
  }
}
