import HTTPTypes

extension StoringHook {
  /// Asks the hook, within its time limit. A hook that takes longer is cancelled and no longer waited for.
  ///
  /// - Throws: `HookFailure`.
  func ask(
    _ request: HTTPRequest, _ proposal: ProposedRecord, _ turn: HookTurn
  ) async throws(HookFailure) -> ProposedRecord? {
    if case .immediate(let decide) = decision { return decide(request, proposal) }
    let answer = OneShot<Result<ProposedRecord?, HookFailure>>()
    let work = Task(executorPreference: turn.executor) { [decision] in
      do { answer.give(.success(try await decision(request, proposal))) } catch {
        answer.give(.failure(.threw(error)))
      }
    }
    let timer = Task(executorPreference: turn.executor) {
      try? await turn.wait(Self.timeLimit)
      answer.give(.failure(.timedOut(Self.timeLimit)))
    }
    defer {
      timer.cancel()
      work.cancel()
    }
    return try await answer.take().get()
  }
}
