import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// The bytes of this store that no row of the index counts: reservations for bodies that are being written,
/// and pending deletions.
///
/// Other processes do not see them: `docs/decisions/0027-reservations-of-one-process.md`.
final class Reservations: Sendable {
  private struct State {
    var bytes: Int64 = 0
    var limit: Int64 = 0
    /// Body files that have no row and could not be deleted yet, with their reserved bytes.
    var pendingDeletions: [(name: BodyName, bytes: Int64)] = []
  }

  private let state = Mutex(State())

  /// Bytes that are reserved.
  var bytes: Int64 { state.withLock { max(0, $0.bytes) } }

  /// Whether all reserved bytes fit in addition to the usage that the index thread published last.
  var areWithinLimit: Bool { state.withLock { $0.bytes <= $0.limit } }

  /// Reserves bytes; releases them if negative.
  func add(_ bytes: Int64) { state.withLock { $0.bytes += bytes } }

  /// Sets how many bytes may be reserved before a writer has to ask the index thread. The index thread sets
  /// the limit each time it reads the usage, before reservations of rows in that usage are released.
  func setLimit(_ bytes: Int64) { state.withLock { $0.limit = bytes } }

  // MARK: Pending deletions

  var hasPendingDeletions: Bool { state.withLock { !$0.pendingDeletions.isEmpty } }

  /// Reserves the bytes of a body file without a row until the file is deleted.
  func add(_ bytes: Int64, pending name: BodyName) {
    state.withLock { state in
      state.bytes += bytes
      state.pendingDeletions.append((name, bytes))
    }
  }

  /// Removes the pending deletions from this list, releases their bytes, and returns them.
  func takePendingDeletions() -> [(name: BodyName, bytes: Int64)] {
    state.withLock { state in
      let deletions = state.pendingDeletions
      state.pendingDeletions = []
      for deletion in deletions { state.bytes -= deletion.bytes }
      return deletions
    }
  }
}

extension OpenDirectory {
  /// Deletes a body file that has no row. If the deletion fails, the bytes of the file stay reserved. A deletion
  /// that may succeed later, for example after too many open files, is tried again before something is evicted.
  ///
  /// - Parameter bytes: the bytes of the file.
  func deleteBody(_ name: BodyName, bytes: Int64) {
    switch directory.removeBody(name) {
    case .gone: break
    case .later: reservations.add(bytes, pending: name)
    case .never: reservations.add(bytes)
    }
  }

  /// Tries the pending deletions again; on the index thread.
  func retryDeletions() {
    for deletion in reservations.takePendingDeletions() {
      deleteBody(deletion.name, bytes: deletion.bytes)
    }
  }
}
