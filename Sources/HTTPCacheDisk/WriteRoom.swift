import HTTPCacheSemantics
import Synchronization

/// How many bytes a store is writing that no row counts yet, told to all stores that share the folder; and
/// how many may be written before somebody has to look whether there is room.
final class WriteRoom: Sendable {
  private struct State {
    var bytes: Int64 = 0
    var leaving: Int64 = 0
    var file: RoomFile?
    var slot: Int?
    var owner: UInt64 = 0
    var wasTried = false
    // Where nothing is shared: what this store alone has written.
    var ownSpent: UInt64 = 0
    // How far the sum of what is written may go.
    var granted: UInt64 = 0

    func tell() {
      guard let slot else { return }
      file?.set(slot, of: owner, bytes: max(0, bytes), leaving: max(0, leaving))
    }

    var spent: UInt64 { file?.spent ?? ownSpent }
  }

  /// How much all had written when somebody began to look at what is in use.
  struct Mark: Sendable {
    fileprivate let spent: UInt64
    fileprivate let isShared: Bool
  }

  private let state = Mutex(State())

  // The most that is written without asking whether there is still room.
  private static let mostGranted: Int64 = 4 << 20

  deinit {
    state.withLock { state in
      if let slot = state.slot { state.file?.release(slot, of: state.owner) }
    }
  }

  /// Bytes that this store is writing.
  var ownBytes: Int64 { state.withLock { max(0, $0.bytes) } }

  /// Bytes of files that this store is about to delete.
  var ownLeaving: Int64 { state.withLock { max(0, $0.leaving) } }

  /// Bytes that all stores are writing.
  var writtenBytes: Int64 { others.reduce(ownBytes) { $0.saturatingAdd($1.bytes) } }

  /// Bytes of files that are about to be deleted, by all stores: what rows counted until their transaction was
  /// committed. To be asked after the rows were read.
  var leavingBytes: Int64 { others.reduce(ownLeaving) { $0.saturatingAdd($1.leaving) } }

  /// Whether it was tried to tell others.
  var hasJoined: Bool { state.withLock { $0.wasTried } }

  /// Tells others from now on, where memory can be shared.
  func join(as owner: UInt64, in directory: CacheDirectory) {
    guard !hasJoined else { return }
    var file = RoomFile.map(in: directory.root)
    // Somebody else may have taken it for a foreign one, and made another.
    for _ in 0..<3 where file.map({ $0.identity != FileIdentity(RoomFile.name, in: directory.root) }) ?? false
    {
      file = RoomFile.map(in: directory.root)
    }
    let mapped = file
    state.withLock { state in
      guard !state.wasTried else { return }
      state.wasTried = true
      guard let file = mapped else { return }
      state.file = file
      state.owner = owner
      state.slot = file.claim(owner: owner, bytes: max(0, state.bytes))
      state.tell()
      state.granted = file.spent
    }
  }

  /// Whether the file that others tell is still the one in a folder, which it is not if that was emptied.
  func isShared(in directory: CacheDirectory) -> Bool {
    guard let file = state.withLock({ $0.file }) else { return true }
    return file.identity == FileIdentity(RoomFile.name, in: directory.root)
  }

  /// Adds to what this store is writing.
  func add(_ bytes: Int64) {
    state.withLock { state in
      state.bytes += bytes
      state.tell()
    }
  }

  /// Adds to what is about to be deleted.
  func addLeaving(_ bytes: Int64) {
    state.withLock { state in
      state.leaving += bytes
      state.tell()
    }
  }

  /// Ends what all stores may write without looking: it was granted under another capacity.
  func revokeAllGrants() { state.withLock { _ = $0.file?.spend(UInt64(Self.mostGranted)) } }

  // MARK: What may be written

  /// To be taken before what is in use is looked at.
  var mark: Mark { state.withLock { Mark(spent: $0.spent, isShared: $0.file != nil) } }

  /// There was room for so many bytes, beside those in work, when a mark was taken: so much may be added to
  /// what all have written since. Whoever writes adds to that sum, so that nobody takes what another one has
  /// taken already.
  func grant(_ bytes: Int64, since mark: Mark) {
    state.withLock { state in
      guard mark.isShared == (state.file != nil) else { return }
      state.granted = mark.spent &+ UInt64(clamping: min(Self.mostGranted, bytes))
    }
  }

  /// Nothing may be written before somebody has looked.
  func revokeGrant() { state.withLock { $0.granted = $0.spent } }

  /// Adds to what is written.
  ///
  /// - Returns: whether there was room for it when somebody looked last.
  @discardableResult
  func spend(_ bytes: Int64) -> Bool {
    state.withLock { state in
      let bytes = UInt64(clamping: bytes)
      state.ownSpent &+= bytes
      let spent = state.file?.spend(bytes) ?? state.ownSpent
      return Int64(bitPattern: state.granted &- spent) >= 0
    }
  }

  // MARK: What others are writing

  /// What the other stores say; those of dead processes among them.
  var others: [RoomFile.Claim] {
    let (file, slot) = state.withLock { ($0.file, $0.slot) }
    return file?.claims(sparing: slot) ?? []
  }

  /// What all stores say that tell anything in a folder, this one too; those of dead processes among them.
  func claims(in directory: CacheDirectory) -> [RoomFile.Claim] {
    guard FileIdentity(RoomFile.name, in: directory.root) != nil else { return [] }
    return (state.withLock({ $0.file }) ?? RoomFile.map(in: directory.root))?.claims(sparing: nil) ?? []
  }

  /// Nothing is left of what a dead process was writing.
  func forget(_ owner: UInt64, in directory: CacheDirectory) {
    guard let file = state.withLock({ $0.file }) ?? RoomFile.map(in: directory.root) else { return }
    for claim in file.claims(sparing: nil) where claim.owner == owner {
      file.release(claim.slot, of: owner)
    }
  }
}
