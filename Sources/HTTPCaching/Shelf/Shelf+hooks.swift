import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension Shelf {
  /// Asks the hooks about a response that is about to be stored.
  ///
  /// - Parameters:
  ///   - proposed: what is stored without a hook.
  ///   - record: the stored record that is about to be freshened; nil for a new response.
  ///   - question: nil without a hook.
  func decision(
    on proposed: StoringTerms, over record: CacheRecord? = nil, asking question: HookQuestion?
  ) async -> StoringDecision {
    guard let question else { return .store(proposed) }
    var terms = proposed
    let (hook, response) = (question.hook, proposed.response)
    let userInfo = UserInfoParts(terms.userInfo)
    let proposal = ProposedRecord(
      key: question.key, head: response.head, userInfo: userInfo.shown,
      storagePolicy: terms.isMemoryOnly ? .allowedInMemoryOnly : .allowed,
      isPinned: terms.isPinned, isFreshening: record != nil)
    let answer: ProposedRecord?
    do throws(HookFailure) {
      answer = try await hook.ask(question.request, about: proposal, turn: question.turn)
    } catch {
      observers.tell(.hookFailed(target: question.target, error))
      if case .timedOut = error { return .refuse(.hookTimedOut) }
      return .refuse(.hookFailed)
    }
    guard let answer, answer.storagePolicy != .notAllowed else { return .refuse(.hook) }
    if answer.storagePolicy == .allowedInMemoryOnly {
      // An entry on disk cannot move to memory, so it is removed. Without a disk tier nothing changes.
      if let record, !record.isMemoryOnly {
        if !store.isInMemoryOnly { return .refuse(.memoryOnly) }
      } else {
        terms.isMemoryOnly = true
      }
    }
    terms.userInfo = userInfo.changed(to: answer.userInfo).bytes
    terms.isPinned = answer.isPinned
    terms.strippedNames = hook.strippedNames
    guard answer.head.headerFields != response.head.headerFields else { return .store(terms) }
    terms.response = response.changed(by: answer.head, rules: question.rules)
    if let refusal = refusal(of: terms.response, insteadOf: response, question) {
      return .refuse(refusal)
    }
    for field in response.head.headerFields
    where !terms.response.head.headerFields.contains(field.name) {
      terms.strippedNames.insert(field.name)
    }
    return .store(terms)
  }

  /// Why a response with the head that the hook changed may not be stored, although the original may.
  private func refusal(
    of changed: StoredResponse, insteadOf original: StoredResponse, _ question: HookQuestion
  ) -> StorageRefusal? {
    let decide = { (stored: StoredResponse) in
      Storability.decide(
        request: question.request.unranged, response: stored.head, rules: question.rules,
        now: stored.responseTime)
    }
    guard case .doNotStore(let refusal) = decide(changed), case .store = decide(original) else {
      return nil
    }
    return refusal
  }
}
