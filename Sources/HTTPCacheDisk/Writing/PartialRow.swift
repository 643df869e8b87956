import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The row of a body that is still being written. It says what came so far, so that this is found again
/// however the process ends.
final class PartialRow: Sendable {
  /// How many bytes come at most between two looks at the row.
  static let interval: Int64 = 4 << 20

  private struct State {
    var id: Int64?
    // What of the appended bytes the row has, and where they end.
    var savedBytes: Int64 = 0
    var savedEnd: Int64 = 0
    // The number of bytes at which the next look is due.
    var due = StoredPieces.blockLength
    var isLost = false
  }

  private let store: DiskStore
  private let opened: OpenDirectory
  private let state: Mutex<State>

  /// - Parameters:
  ///   - id: the row of a partial body that is added to; nil if there is none, and one is made with the first
  ///     block.
  ///   - end: where the bytes go that are added.
  init(store: DiskStore, opened: OpenDirectory, id: Int64?, end: Int64) {
    self.store = store
    self.opened = opened
    state = Mutex(State(id: id, savedEnd: end))
  }

  /// The row; nil if there is none.
  var id: Int64? { state.withLock { $0.isLost ? nil : $0.id } }

  /// How many of the bytes that were written the row counts.
  var savedBytes: Int64 { state.withLock { $0.savedBytes } }

  /// Whether the row should be told that so many bytes are in the file.
  func isDue(_ bytes: Int64) -> Bool { state.withLock { !$0.isLost && bytes >= $0.due } }

  /// Makes the row, or brings it up to date. A failure costs no more than what would be found after a crash.
  ///
  /// - Parameter record: for a new row, whatever its ranges.
  func save(_ body: GrowingBody.State, in file: BodyFile, record: CacheRecord) async {
    let name = try? await store.fileQueue.run { () throws(CacheError) in file.publishUnfinished() }
    let before = state.withLock { state in
      if name == nil { state.isLost = true }
      // A quarter more each time, so that little of a little is lost, and much costs few transactions.
      state.due = body.flushed + min(Self.interval, max(StoredPieces.blockLength, body.flushed / 4))
      return state
    }
    guard let name else { return }
    do throws(CacheError) {
      let id: Int64
      if let known = before.id {
        id = known
        try await store.grow(
          PartialGrowth(
            id: id, file: name, pieces: body.pieces,
            changed: before.savedEnd..<max(before.savedEnd, body.flushedEnd)), in: opened)
      } else {
        let entry = try NewEntry(
          record: record.storing(body.pieces.ranges, bodyLength: record.bodyLength),
          body: .file(name, body.pieces), variantLimit: .max)
        guard let made = try await store.insertUnfinished(entry, in: file, into: opened) else { return }
        id = made
      }
      state.withLock { state in
        state.id = id
        state.savedBytes = body.flushed
        state.savedEnd = max(before.savedEnd, body.flushedEnd)
      }
    } catch {
      state.withLock { state in
        guard error.code == .unavailable else { return }
        state.isLost = true
        state.savedBytes = 0
      }
    }
  }
}
