import HTTPCacheSemantics
import Synchronization

/// How many bytes a store is writing that no row counts yet, told to all stores that share the folder.
final class WriteRoom: Sendable {
  private struct State {
    var bytes: Int64 = 0
    var capacity = Int64.max
    var file: RoomFile?
    var slot: Int?
    var owner: UInt64 = 0
    var wasTried = false

    func tell() {
      guard let slot else { return }
      file?.set(slot, bytes: max(0, bytes), capacity: WriteRoom.told(capacity))
    }
  }

  private let state = Mutex(State())

  deinit {
    state.withLock { state in
      if let slot = state.slot { state.file?.release(slot, of: state.owner) }
    }
  }

  /// Bytes that this store is writing.
  var ownBytes: Int64 { state.withLock { max(0, $0.bytes) } }

  /// Whether it was tried to tell others.
  var hasJoined: Bool { state.withLock { $0.wasTried } }

  /// Tells others from now on, where memory can be shared.
  func join(as owner: UInt64, capacity: Int64, in directory: CacheDirectory) {
    guard !hasJoined else { return }
    let file = RoomFile.map(in: directory.root)
    state.withLock { state in
      guard !state.wasTried else { return }
      state.wasTried = true
      state.capacity = capacity
      guard let file else { return }
      state.file = file
      state.owner = owner
      state.slot = file.claim(
        owner: owner, bytes: max(0, state.bytes), capacity: Self.told(capacity))
    }
  }

  /// Adds to what this store is writing.
  func add(_ bytes: Int64) {
    state.withLock { state in
      state.bytes += bytes
      state.tell()
    }
  }

  func setCapacity(_ capacity: Int64) {
    state.withLock { state in
      state.capacity = capacity
      state.tell()
    }
  }

  /// What the other stores say; those of dead processes among them.
  var others: [RoomFile.Claim] {
    let (file, slot) = state.withLock { ($0.file, $0.slot) }
    return file?.claims(sparing: slot) ?? []
  }

  /// Nothing is left of what a dead process was writing.
  func forget(_ owner: UInt64, in directory: CacheDirectory) {
    guard let file = state.withLock({ $0.file }) ?? RoomFile.map(in: directory.root) else { return }
    for claim in file.claims(sparing: nil) where claim.owner == owner {
      file.release(claim.slot, of: owner)
    }
  }

  // 0 stands for a capacity that was not told yet.
  private static func told(_ capacity: Int64) -> Int64 { max(0, capacity).saturatingAdd(1) }
}
