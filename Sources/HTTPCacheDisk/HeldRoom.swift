import Synchronization

/// Bytes of files that no row counts, and that are yet to be deleted: told to all stores until this is released,
/// or nobody has it any more.
final class HeldRoom: Sendable {
  private let room: WriteRoom
  private let bytes: Atomic<Int64>

  init(_ bytes: Int64, in room: WriteRoom) {
    self.room = room
    self.bytes = Atomic(max(0, bytes))
    if bytes > 0 { room.addLeaving(bytes) }
  }

  deinit { release() }

  /// Bytes that are held.
  var count: Int64 { bytes.load(ordering: .relaxed) }

  func release() {
    let held = bytes.exchange(0, ordering: .relaxed)
    if held > 0 { room.addLeaving(-held) }
  }
}
