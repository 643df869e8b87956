import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The row of a body that is still being written. The row has the ranges that arrived so far, so that they
/// are found again however the process ends.
final class PartialRow: Sendable {
  /// The most bytes between two updates of the row.
  static let interval: Int64 = 4 << 20

  private struct State {
    var id: Int64?
    // The number of appended bytes that the row counts, and their end.
    var savedBytes: Int64 = 0
    var savedEnd: Int64 = 0
    // The number of bytes at which the next update is due.
    var due = StoredPieces.blockLength
    var isLost = false
  }

  private let store: DiskStore
  private let opened: OpenDirectory
  private let state: Mutex<State>

  /// - Parameters:
  ///   - id: the row of the partial body to which bytes are added; nil if there is none. A row is then
  ///     inserted with the first block.
  ///   - end: the position at which bytes are added.
  init(store: DiskStore, opened: OpenDirectory, id: Int64?, end: Int64) {
    self.store = store
    self.opened = opened
    state = Mutex(State(id: id, savedEnd: end))
  }

  /// The id of the row; nil if there is none.
  var id: Int64? { state.withLock { $0.isLost ? nil : $0.id } }

  /// The number of appended bytes that the row counts.
  var savedBytes: Int64 { state.withLock { $0.savedBytes } }

  /// Whether the row must be updated when so many bytes are in the file.
  func isDue(_ bytes: Int64) -> Bool { state.withLock { !$0.isLost && bytes >= $0.due } }

  /// Inserts or updates the row. After a failure, fewer ranges are found if the process crashes.
  ///
  /// - Parameter record: the record for a new row. Its ranges are replaced.
  func save(
    _ body: DiskBody.State, in file: BodyFile, record: CacheRecord, reservation: WriterPhase
  ) async {
    let name = try? await store.fileQueue.run { () throws(CacheError) in file.prepareUnfinished() }
    let before = state.withLock { state in
      if name == nil { state.isLost = true }
      // The interval grows by a quarter of the bytes: few bytes of a short body are lost, and a long body
      // needs few transactions.
      state.due = body.flushed + min(Self.interval, max(StoredPieces.blockLength, body.flushed / 4))
      return state
    }
    guard let name else { return }
    do throws(CacheError) {
      let id: Int64
      if let known = before.id {
        id = known
        try await store.grow(
          id, name, to: body.pieces, changed: before.savedEnd..<max(before.savedEnd, body.flushedEnd),
          in: opened)
      } else {
        let entry = try NewEntry(
          record: record.storing(body.pieces.ranges, bodyLength: record.bodyLength),
          body: .file(name, body.pieces), variantLimit: .max, predecessor: nil, purpose: .unfinished,
          reservation: reservation)
        id = Int64(bitPattern: try await store.insert(entry, into: opened).sequence)
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
