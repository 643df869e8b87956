import HTTPCacheStore
import Synchronization

/// An entry whose writer waits for the row.
struct WaitingInsertion: Sendable {
  let entry: NewEntry
  let opened: OpenDirectory
  let handover: Handover<CacheRecord>
  let continuation: UnsafeContinuation<Void, Never>

  func resume(_ result: Result<CacheRecord, CacheError>) {
    handover.result.withLock { $0 = result }
    continuation.resume()
  }
}

/// Entries that wait for their rows while the index thread is busy. One transaction inserts all of them.
final class WaitingInsertions: Sendable {
  private struct State {
    var waiting: [WaitingInsertion] = []
    var isScheduled = false
  }

  private let state = Mutex(State())

  /// The most entries of one transaction, so that the log stays below its limit.
  private static let mostAtOnce = 32

  /// Waits until the entry has its row.
  func wait(for entry: NewEntry, in opened: OpenDirectory, of store: DiskStore) async throws(CacheError)
    -> CacheRecord
  {
    let handover = Handover<CacheRecord>()
    await withUnsafeContinuation { continuation in
      let isFirst = state.withLock { state in
        state.waiting.append(
          WaitingInsertion(
            entry: entry, opened: opened, handover: handover, continuation: continuation))
        defer { state.isScheduled = true }
        return !state.isScheduled
      }
      if isFirst { schedule(in: store) }
    }
    return try handover.take()
  }

  private func schedule(in store: DiskStore) {
    store.indexQueue.submit { [self] in
      let (some, isMore) = state.withLock { state in
        let some = Array(state.waiting.prefix(Self.mostAtOnce))
        state.waiting.removeFirst(some.count)
        state.isScheduled = !state.waiting.isEmpty
        return (some, state.isScheduled)
      }
      if isMore { schedule(in: store) }
      store.insert(some)
    }
  }
}

extension DiskStore {
  /// Inserts the rows of entries and resumes their writers; on the index thread.
  func insert(_ waiting: [WaitingInsertion]) {
    let current: OpenDirectory
    do throws(CacheError) {
      current = try directoryToWrite()
    } catch {
      for insertion in waiting { insertion.resume(.failure(error)) }
      return
    }
    for insertion in waiting where insertion.opened !== current {
      let key = insertion.entry.record.key
      insertion.resume(.failure(CacheError(.unavailable, "the index was replaced", key: key)))
    }
    let waiting = waiting.filter { $0.opened === current }
    guard !waiting.isEmpty else { return }
    let results = insert(waiting.map(\.entry), opened: current)
    for result in results { if case .failure(let error) = result { answer(error, of: current) } }
    for (insertion, result) in zip(waiting, results) { insertion.resume(result) }
  }
}
