import CSystemShims
import HTTPCacheStore

/// `Cache.room`: what each store that has the directory open is writing, in memory that all processes share; and how many bytes all of them have written so far.
final class RoomFile: Sendable {
  private let memory: SharedMapping

  /// What one store says.
  struct Claim: Sendable {
    let slot: Int
    let owner: UInt64
    /// Bytes in work that no row counts.
    let bytes: Int64
    /// Bytes of files that no row counts any more, until they are deleted.
    let leaving: Int64
  }

  static let name = "Cache.room"
  static let byteCount = 4_096
  private static let magic: UInt64 = 0x316D_6F6F_7263_6848
  private static let headerWords = 8
  // The third word of a slot held the capacity of a store in earlier versions, where 0 was none.
  private static let slotWords = 4
  private static let slots = (byteCount / 8 - headerWords) / slotWords

  /// Which file is mapped.
  var identity: FileIdentity { memory.identity }

  /// Maps the file of a directory, and makes it first if need be; what is none of ours in its place is
  /// removed.
  ///
  /// - Returns: nil where memory cannot be shared through it.
  static func map(in directory: OpenFile) -> RoomFile? {
    let memory = try? SharedMapping.map(name, in: directory, byteCount: byteCount, magic: magic)
    return memory.map { RoomFile(memory: $0) }
  }

  private init(memory: SharedMapping) { self.memory = memory }

  /// Bytes that all stores have written or are about to, ever since; it only counts what was added between
  /// two looks.
  var spent: UInt64 { shim_atomic_load(memory.words + 1) }

  /// Adds to it.
  ///
  /// - Returns: the sum.
  func spend(_ bytes: UInt64) -> UInt64 { shim_atomic_add(memory.words + 1, bytes) }

  private func cell(_ slot: Int, _ word: Int) -> UnsafeMutablePointer<UInt64> {
    memory.words + Self.headerWords + slot * Self.slotWords + word
  }

  /// Takes a slot; nil if there is none left.
  func claim(owner: UInt64, bytes: Int64) -> Int? {
    for slot in 0..<Self.slots where shim_atomic_exchange(cell(slot, 0), 0, owner) == 1 {
      set(slot, of: owner, bytes: bytes, leaving: 0)
      return slot
    }
    return nil
  }

  /// Says what an owner writes and deletes, unless its slot was taken from it.
  func set(_ slot: Int, of owner: UInt64, bytes: Int64, leaving: Int64) {
    guard shim_atomic_load(cell(slot, 0)) == owner else { return }
    shim_atomic_store(cell(slot, 3), UInt64(clamping: leaving))
    shim_atomic_store(cell(slot, 1), UInt64(clamping: bytes))
  }

  private func bytes(_ cell: UnsafeMutablePointer<UInt64>) -> Int64 {
    min(1 << 50, Int64(clamping: shim_atomic_load(cell)))
  }

  /// Gives a slot back, if this owner has it.
  func release(_ slot: Int, of owner: UInt64) {
    guard shim_atomic_load(cell(slot, 0)) == owner else { return }
    set(slot, of: owner, bytes: 0, leaving: 0)
    _ = shim_atomic_exchange(cell(slot, 0), owner, 0)
  }

  /// What others say than the store with this slot.
  func claims(sparing own: Int?) -> [Claim] {
    var claims: [Claim] = []
    for slot in 0..<Self.slots where slot != own {
      let owner = shim_atomic_load(cell(slot, 0))
      guard owner != 0 else { continue }
      claims.append(
        Claim(slot: slot, owner: owner, bytes: bytes(cell(slot, 1)), leaving: bytes(cell(slot, 3))))
    }
    return claims
  }
}
