import HTTPCacheStore
import Synchronization

/// Bounds how long a node uses entries without a connection (`FleetOptions.stalenessBound`): it invalidates all of them
/// each time the bound has passed without a sign of life of the tier.
///
/// It sleeps beside the follower, which may meet a slow log, or pause, for longer than the bound. If the whole process is
/// paused, neither runs: until the log was read again, look-ups find nothing (`FleetLog.mayUseEntries`).
final class StalenessWatch: Sendable {
  private struct State {
    /// Runs while there is no connection.
    var task: Task<Void, Never>?
    /// By the clock's `uptime`.
    var lastInvalidation: Duration?
  }

  /// A node with a shorter bound would do nothing else.
  private static let shortestBound = Duration.milliseconds(100)
  /// A clock may overflow: longer bounds are slept in parts.
  private static let longestSleep = Duration.seconds(86_400)

  /// The shortest bound for entries while there is a connection: its signs of life are a second apart, and the changes of
  /// one are applied before the next one is asked for.
  private static let shortestBoundOfEntries = Duration.milliseconds(2_500)
  /// A bound whose double is a time.
  private static let longestBound = Duration.seconds(1 << 40)

  private let bound: Duration
  private let start: Duration
  private let fleet: Fleet
  private let shelf: Shelf
  private let state = Mutex(State())

  init(_ bound: Duration, fleet: Fleet, shelf: Shelf) {
    self.bound = min(max(bound, Self.shortestBound), Self.longestBound)
    self.fleet = fleet
    self.shelf = shelf
    start = fleet.clock.uptime
  }

  /// The connection is lost, or was not made yet.
  func begin() {
    state.withLock { state in
      guard state.task == nil else { return }
      state.task = Task(executorPreference: fleet.executor) { [self] in await run() }
    }
  }

  /// There is a connection, or the follower ends. Returns when nothing is invalidated any more.
  func end() async {
    let task = state.withLock { state in
      defer { state.task = nil }
      return state.task
    }
    task?.cancel()
    await task?.value
  }

  /// The node could not meet the log. If there was no sign of life yet, nothing tells for how long the node was away
  /// before this process began: the bound counts as passed.
  func meetingFailed() async {
    guard fleet.log.facts.lastContact == nil, lastInvalidation == nil else { return }
    await invalidate()
  }

  /// Notes that this node has applied the log as it was at a time, by the clock's `uptime`.
  func entriesAreCurrent(asOf time: Duration) {
    fleet.log.entriesAreCurrent(asOf: time, bound: max(bound, Self.shortestBoundOfEntries))
  }

  private var lastInvalidation: Duration? { state.withLock { $0.lastInvalidation } }

  private func run() async {
    while !Task.isCancelled {
      let last = max(fleet.log.facts.lastContact ?? start, lastInvalidation ?? start)
      let rest = last + bound - fleet.clock.uptime
      if rest <= .zero {
        await invalidate()
      } else {
        do { try await fleet.clock.sleep(for: min(rest, Self.longestSleep)) } catch { return }
      }
    }
  }

  private func invalidate() async {
    let uptime = fleet.clock.uptime
    state.withLock { $0.lastInvalidation = uptime }
    await shelf.invalidateAll(because: .stalenessBound)
    entriesAreCurrent(asOf: uptime)
  }
}
