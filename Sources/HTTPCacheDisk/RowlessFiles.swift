import HTTPCacheStore
import Synchronization

/// Files that lost their rows and could not be deleted, as where a process has too many files open: they
/// count until it is done.
final class RowlessFiles: Sendable {
  private struct File: Sendable {
    let name: BodyName
    let isTemporary: Bool
    let room: HeldRoom
  }

  private let files = Mutex<[File]>([])

  /// Whether there are any.
  var isEmpty: Bool { files.withLock { $0.isEmpty } }

  /// A file could not be deleted.
  ///
  /// - Parameter room: its bytes.
  func add(_ name: BodyName, isTemporary: Bool, holding room: HeldRoom) {
    files.withLock { $0.append(File(name: name, isTemporary: isTemporary, room: room)) }
  }

  /// Tries again what could not be done.
  func delete(in directory: CacheDirectory) {
    guard !isEmpty else { return }
    let all = files.withLock { files in
      defer { files = [] }
      return files
    }
    let rest = all.filter { directory.removeBody($0.name, isTemporary: $0.isTemporary) == .later }
    files.withLock { $0 += rest }
  }
}

extension StoreParts {
  /// Deletes a file that has no row; if that cannot be, later.
  ///
  /// - Parameter bytes: what it takes, which counts until then.
  func deleteRowless(_ name: BodyName, isTemporary: Bool = false, bytes: Int64) {
    switch directory.removeBody(name, isTemporary: isTemporary) {
    case .gone: break
    case .later: rowless.add(name, isTemporary: isTemporary, holding: HeldRoom(bytes, in: room))
    // It counts as long as this has the folder open; others have to go instead.
    case .never: room.addLeaving(bytes)
    }
  }
}
