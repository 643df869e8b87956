import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

/// The body of a scripted response: performs its steps as it is pulled.
final class ScriptedBody: BodySource {
  private struct State {
    var steps: ArraySlice<ScriptedResponse.Step>
    var isCancelled = false
    var waiting: Task<Void, any Error>?
  }

  private let state: Mutex<State>
  private let fields: HTTPFields
  private let onCancel: @Sendable () -> Void
  let length: Int64?

  init(_ response: ScriptedResponse, onCancel: @escaping @Sendable () -> Void) {
    state = Mutex(State(steps: response.steps[...]))
    fields = response.trailers
    length = response.announcedLength
    self.onCancel = onCancel
  }

  deinit { cancel() }

  func next() async throws -> BodyBytes? {
    while true {
      let step = try state.withLock { state throws(UpstreamError) in
        if state.isCancelled { throw UpstreamError(.cancelled, "the body was cancelled") }
        return state.steps.popFirst()
      }
      switch step {
      case nil: return nil
      case .bytes(let bytes): if !bytes.isEmpty { return bytes }
      case .wait(let gate): try await wait(at: gate)
      case .fail(let error):
        finish()
        throw error
      }
    }
  }

  var trailers: HTTPFields { state.withLock { $0.steps.isEmpty && !$0.isCancelled } ? fields : [:] }

  func cancel() {
    let (wasRunning, waiting) = state.withLock { state in
      let isWaiting = state.waiting != nil
      guard !state.isCancelled, !state.steps.isEmpty || isWaiting else {
        return (false, nil as Task<Void, any Error>?)
      }
      state.isCancelled = true
      return (true, state.waiting)
    }
    waiting?.cancel()
    if wasRunning { onCancel() }
  }

  // The wait is a separate task, so that both `cancel` and the caller's cancellation end it.
  private func wait(at gate: Gate) async throws {
    let task = Task { try await gate.pass() }
    let isCancelled = state.withLock { state in
      state.waiting = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
    defer { state.withLock { $0.waiting = nil } }
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private func finish() { state.withLock { $0.steps = [] } }
}
