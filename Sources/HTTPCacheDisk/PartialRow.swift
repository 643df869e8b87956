import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The row of a body that is still being written. It says what came so far, so that this is found again
/// however the process ends.
final class PartialRow: Sendable {
  /// How many bytes come at most between two looks at the row.
  static let interval: Int64 = 4 << 20

  // A quarter more each time, so that little of a little is lost, and much costs few transactions.
  private static func due(after bytes: Int64) -> Int64 {
    bytes + min(interval, max(BlockChecksums.blockLength, bytes / 4))
  }

  private struct State {
    var id: Int64?
    var savedPieces = 0
    var savedBytes: Int64 = 0
    // The number of bytes at which the next look is due.
    var due: Int64
    var isLost = false
  }

  private let store: DiskStore
  private let parts: StoreParts
  private let state: Mutex<State>

  /// - Parameter id: the row of a partial body that is added to; nil if there is none, and one is made
  ///   with the first block.
  init(store: DiskStore, parts: StoreParts, id: Int64? = nil) {
    self.store = store
    self.parts = parts
    state = Mutex(State(id: id, due: BlockChecksums.blockLength))
  }

  /// The row; nil if there is none.
  var id: Int64? { state.withLock { $0.isLost ? nil : $0.id } }

  /// How many of the bytes that were written the row counts.
  var savedBytes: Int64 { state.withLock { $0.savedBytes } }

  /// The pieces that the row does not have.
  func unsaved(_ pieces: [StoredPiece]) -> [StoredPiece] {
    Array(pieces.dropFirst(state.withLock { $0.savedPieces }))
  }

  /// Whether the row should be told that so many bytes are in the file.
  func isDue(_ bytes: Int64) -> Bool { state.withLock { !$0.isLost && bytes >= $0.due } }

  /// The name of a file that goes on being written, so that it can have a row; nil if it cannot.
  func name(of file: BodyFile) async -> BodyName? {
    let name = try? await store.fileQueue.run { () throws(CacheError) in file.publishUnfinished() }
    guard let name else {
      state.withLock { $0.isLost = true }
      return nil
    }
    return name
  }

  /// Makes the row, or adds to it. A failure costs no more than what would be found after a crash.
  ///
  /// - Parameters:
  ///   - pieces: all that were written, in the order of writing.
  ///   - file: what they were written into.
  ///   - name: of the file.
  ///   - record: for a new row.
  func save(
    _ pieces: [StoredPiece], in file: BodyFile, named name: BodyName, record: CacheRecord
  ) async {
    let bytes = pieces.reduce(0) { $0 + $1.end - $1.start }
    let before = state.withLock { state in
      state.due = Self.due(after: bytes)
      return state
    }
    do throws(CacheError) {
      if let id = before.id {
        let growth = PartialGrowth(id: id, file: name, pieces: unsaved(pieces), record: nil)
        let isThere = try await store.grow(growth, in: parts) != nil
        state.withLock { state in
          state.isLost = !isThere
          state.savedPieces = pieces.count
          state.savedBytes = isThere ? bytes : 0
        }
      } else {
        let entry = try NewEntry(
          record: record, body: .file(name), storedLength: bytes, pieces: pieces,
          variantLimit: .max)
        guard let id = try await store.insertUnfinished(entry, in: file, into: parts) else { return }
        state.withLock { state in
          state.id = id
          state.savedPieces = pieces.count
          state.savedBytes = bytes
        }
      }
    } catch {
      if error.code == .unavailable { state.withLock { $0.isLost = true } }
    }
  }
}
