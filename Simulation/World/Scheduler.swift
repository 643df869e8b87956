import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting

/// Chooses each next step of a simulation by a seed: which job runs, which paused task goes on, when time
/// passes, when the next operation of the script begins.
///
/// `@unchecked Sendable` because only the thread that runs the simulation calls it; the executor tells if
/// that is not so.
final class Scheduler: @unchecked Sendable {
  /// How a pause ended.
  enum PauseEnd: Sendable { case released, timedOut, cancelled }

  /// How likely the kinds of steps are. Chosen once for each simulation, so that some simulations hold back
  /// the origin, others the store.
  struct Weights: Sendable {
    var job = 4.0
    var operation = 1.0
    var time = 0.1
    var places = Place.allCases.map { $0 == .sleep ? 0.0 : 1.0 }
  }

  private struct Pause {
    let id: Int
    let place: Place
    let deadline: Duration?
    let continuation: CheckedContinuation<PauseEnd, Never>
  }

  let executor = SeededExecutor()
  private(set) var random: SeededGenerator
  private var weights: Weights
  private var pauses: [Pause] = []
  private var lastPause = 0
  private(set) var uptime: Duration = .zero
  private var wallOffset: Int64 = 1_700_000_000
  private(set) var steps = 0
  /// A digest of all choices and notes so far: equal traces have equal digests.
  private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325
  /// The notes, if they are kept.
  private(set) var notes: [String] = []
  private let keepsNotes: Bool
  /// Begins the next operation of the script; nil if none may begin now.
  var nextOperation: (() -> (() -> Void)?)?
  /// The next uptime at which the driver wants to look: time does not pass over this moment at once.
  var nextCheck: (() -> Duration?)?

  init(random: SeededGenerator, weights: Weights, keepsNotes: Bool) {
    self.random = random
    self.weights = weights
    self.keepsNotes = keepsNotes
  }

  // MARK: For tasks

  /// Suspends until the scheduler releases the task.
  ///
  /// - Parameters:
  ///   - deadline: the uptime at which the pause ends on its own.
  ///   - isCancellable: whether cancelling the task ends the pause.
  func pause(_ place: Place, until deadline: Duration? = nil, isCancellable: Bool = true) async -> PauseEnd {
    if let deadline, deadline <= uptime { return .timedOut }
    lastPause += 1
    let id = lastPause
    guard isCancellable else {
      return await withCheckedContinuation { continuation in
        pauses.append(Pause(id: id, place: place, deadline: deadline, continuation: continuation))
      }
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: .cancelled) }
        pauses.append(Pause(id: id, place: place, deadline: deadline, continuation: continuation))
      }
    } onCancel: {
      guard let index = pauses.firstIndex(where: { $0.id == id }) else { return }
      end(index, .cancelled)
    }
  }

  /// Adds a line to the trace.
  func note(_ text: @autoclosure () -> String, _ number: Int = 0) {
    fold(UInt64(bitPattern: Int64(number)))
    tell(text())
  }

  /// Adds a line to the notes alone.
  func tell(_ text: @autoclosure () -> String) {
    if keepsNotes { notes.append("\(steps) \(uptime) \(text())") }
  }

  /// Starts a task whose steps the scheduler chooses.
  @discardableResult
  func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: executor) { await work() }
  }

  // MARK: For the driver

  /// Makes all kinds of steps likely, for the end of a simulation.
  func settle() { weights = Weights() }

  /// Whether a task pauses in the cache's own store or hook.
  var isOwnWorkPaused: Bool { pauses.contains { $0.place.isOwn } }

  /// Whether no job is ready to run.
  var isIdle: Bool { executor.count == 0 }

  /// Moves wall time and uptime forward.
  func advance(by duration: Duration) { wake(at: uptime + duration) }

  /// Moves wall time alone, in seconds.
  func jump(by seconds: Int64) { wallOffset = wallOffset.saturatingAdd(seconds) }

  /// Takes one step.
  ///
  /// - Returns: false if there is nothing left to do.
  func step() -> Bool {
    steps += 1
    let jobs = executor.count
    let operation = nextOperation?()
    var earliest = pauses.compactMap(\.deadline).min()
    if let check = nextCheck?(), check > uptime { earliest = min(earliest ?? check, check) }
    let pauseWeight = pauses.reduce(0) { $0 + weights.places[$1.place.rawValue] }
    let jobWeight = jobs > 0 ? weights.job : 0
    let operationWeight = operation == nil ? 0 : weights.operation
    // Time does not pass while a job is ready: a processor is faster than the limits of requests.
    let timeWeight = earliest == nil || jobs > 0 ? 0 : weights.time
    let total = jobWeight + pauseWeight + operationWeight + timeWeight
    guard total > 0 else { return false }
    var choice = Double(random.next() >> 11) * 0x1p-53 * total
    if jobs > 0, choice < jobWeight {
      let index = random.below(jobs)
      fold(1, UInt64(index))
      executor.run(at: index)
      return true
    }
    choice -= jobWeight
    if let operation, choice < operationWeight {
      fold(2)
      operation()
      return true
    }
    choice -= operationWeight
    for index in pauses.indices {
      let weight = weights.places[pauses[index].place.rawValue]
      guard choice >= weight || weight == 0 else {
        fold(3, UInt64(index))
        end(index, .released)
        return true
      }
      choice -= weight
    }
    if let earliest, jobs == 0 {
      fold(4)
      wake(at: earliest)
      return true
    }
    // Only rounding leads here: whatever can be done is done.
    if jobs > 0 { executor.run(at: 0) } else if let operation { operation() }
    return true
  }

  private func wake(at time: Duration) {
    uptime = max(uptime, time)
    while let index = pauses.firstIndex(where: { $0.deadline.map { $0 <= uptime } ?? false }) {
      end(index, .timedOut)
    }
  }

  private func end(_ index: Int, _ end: PauseEnd) {
    let pause = pauses.remove(at: index)
    if keepsNotes, pause.place != .sleep { notes.append("\(steps) \(uptime) \(end) at \(pause.place)") }
    pause.continuation.resume(returning: end)
  }

  private func fold(_ numbers: UInt64...) {
    for number in numbers { digest = (digest ^ number) &* 0x0000_0100_0000_01b3 }
  }
}

extension Scheduler: CacheClock {
  var now: Timestamp { Timestamp(seconds: wallOffset.saturatingAdd(uptime.components.seconds)) }

  func sleep(for duration: Duration) async throws {
    if duration <= .zero { return try Task.checkCancellation() }
    if case .cancelled = await pause(.sleep, until: uptime + duration) { throw CancellationError() }
  }
}
