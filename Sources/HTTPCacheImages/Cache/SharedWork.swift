import Synchronization

/// Work that callers with equal keys share. It is cancelled when its last caller leaves.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private typealias Caller = CheckedContinuation<Value, any Error>

  private struct Work {
    let number: Int
    let handle: WorkHandle
    var task: Task<Void, Never>?
    var callers: [Int: Caller] = [:]
  }

  private struct State {
    var next = 0
    var works: [Key: Work] = [:]
  }

  private let state = Mutex(State())

  /// The number of pieces of work that have not ended.
  var count: Int { state.withLock { $0.works.count } }

  /// The number of callers of all work that has not ended.
  var callerCount: Int { state.withLock { $0.works.values.reduce(0) { $0 + $1.callers.count } } }

  /// Joins the work for a key, or begins it.
  ///
  /// - Parameters:
  ///   - key: names the work.
  ///   - priority: raises the priority of the work.
  ///   - parent: the work that waits for this one.
  ///   - work: makes the value.
  /// - Throws: what `work` throws; `CancellationError` when the task is cancelled, or by `cancel`.
  func value(
    for key: Key, priority: ImagePriority, parent: WorkHandle? = nil,
    _ work: @escaping @Sendable (WorkHandle) async throws -> Value
  ) async throws -> Value {
    let caller = state.withLock { state in
      state.next += 1
      return state.next
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          var shared = state.works[key] ?? begin(work, for: key, priority: priority, in: &state)
          shared.callers[caller] = continuation
          shared.handle.raise(to: priority.rawValue)
          parent?.wait(for: shared.handle)
          state.works[key] = shared
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      leave(caller, key)
    }
  }

  /// Ends the waiting of all callers of a key with `CancellationError`.
  func cancel(_ key: Key) {
    let (callers, task) = state.withLock { state -> ([Caller], Task<Void, Never>?) in
      guard let work = state.works[key] else { return ([], nil) }
      return (Array(work.callers.values), abandon(key, &state))
    }
    task?.cancel()
    for caller in callers { caller.resume(throwing: CancellationError()) }
  }

  private func begin(
    _ body: @escaping @Sendable (WorkHandle) async throws -> Value, for key: Key,
    priority: ImagePriority, in state: inout State
  ) -> Work {
    state.next += 1
    let (number, handle) = (state.next, WorkHandle(priority))
    var work = Work(number: number, handle: handle)
    work.task = Task(priority: priority.taskPriority) {
      let result: Result<Value, any Error>
      do { result = .success(try await body(handle)) } catch { result = .failure(error) }
      self.end(number, of: key, with: result)
    }
    return work
  }

  private func end(_ number: Int, of key: Key, with result: Result<Value, any Error>) {
    let callers = state.withLock { state -> [Caller] in
      // Work that was abandoned has no callers, and its key may have other work by now.
      guard let work = state.works[key], work.number == number else { return [] }
      state.works[key] = nil
      return Array(work.callers.values)
    }
    for caller in callers { caller.resume(with: result) }
  }

  private func leave(_ caller: Int, _ key: Key) {
    let (continuation, task) = state.withLock { state -> (Caller?, Task<Void, Never>?) in
      guard let continuation = state.works[key]?.callers.removeValue(forKey: caller) else {
        return (nil, nil)
      }
      let isLast = state.works[key]?.callers.isEmpty == true
      return (continuation, isLast ? abandon(key, &state) : nil)
    }
    task?.cancel()
    continuation?.resume(throwing: CancellationError())
  }

  private func abandon(_ key: Key, _ state: inout State) -> Task<Void, Never>? {
    state.works.removeValue(forKey: key)?.task
  }
}

/// The priority of a shared piece of work.
final class WorkHandle: Sendable {
  private let urgency: Atomic<Int>
  private let cause = Mutex<WorkHandle?>(nil)

  init(_ priority: ImagePriority) { urgency = Atomic(priority.rawValue) }

  /// The highest priority of the callers so far.
  var priority: Int { urgency.load(ordering: .relaxed) }

  /// Raises the priority of this work, and of the work that it waits for.
  func raise(to priority: Int) {
    urgency.max(priority, ordering: .relaxed)
    cause.withLock { $0 }?.raise(to: priority)
  }

  /// Names the work that this work waits for.
  func wait(for other: WorkHandle) {
    cause.withLock { $0 = other }
    other.raise(to: priority)
  }
}
