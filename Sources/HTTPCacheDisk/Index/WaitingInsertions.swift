import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// An entry whose writer waits for the row.
final class WaitingInsertion: Sendable {
  let entry: NewEntry
  let opened: OpenDirectory
  /// Nil until the entry was in a transaction.
  let result = Mutex<Result<CacheRecord, CacheError>?>(nil)

  init(_ entry: NewEntry, in opened: OpenDirectory) {
    self.entry = entry
    self.opened = opened
  }
}

extension DiskStore {
  // The most entries of one transaction, so that the log stays below its limit.
  private static let mostAtOnce = 32

  /// Inserts the row of an entry, in one transaction with other entries that wait for their rows while the index
  /// thread is busy.
  ///
  /// - Throws: `CacheError`; no row is inserted then.
  func insert(_ entry: NewEntry, into opened: OpenDirectory) async throws(CacheError) -> CacheRecord {
    let waiting = WaitingInsertion(entry, in: opened)
    waitingInsertions.withLock { $0.append(waiting) }
    return try await indexQueue.run { [self] () throws(CacheError) in
      while true {
        // The job of an earlier entry may have inserted this one, too.
        if let result = waiting.result.withLock({ $0 }) { return try result.get() }
        insertSome()
      }
    }
  }

  private func insertSome() {
    let some = waitingInsertions.withLock { waiting in
      let some = Array(waiting.prefix(Self.mostAtOnce))
      waiting.removeFirst(some.count)
      return some
    }
    do throws(CacheError) {
      let current = try directoryToWrite()
      let fitting = some.filter { $0.opened === current }
      let results = insert(fitting.map(\.entry), opened: current)
      for result in results { if case .failure(let error) = result { answer(error, of: current) } }
      for (insertion, result) in zip(fitting, results) { insertion.result.withLock { $0 = result } }
      for insertion in some where insertion.opened !== current {
        let error = CacheError(.unavailable, "the index was replaced", key: insertion.entry.record.key)
        insertion.result.withLock { $0 = .failure(error) }
      }
    } catch {
      for insertion in some { insertion.result.withLock { $0 = .failure(error) } }
    }
  }
}
