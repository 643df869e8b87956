import CSystemShims
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `Cache.room`: what each store that has the directory open is writing, and the capacity it was given,
/// in memory that all processes share.
final class RoomFile: @unchecked Sendable {
  // @unchecked Sendable because the memory is only read and written by atomic operations, and unmapped
  // only in deinit.
  private let words: UnsafeMutablePointer<UInt64>

  /// What one store says.
  struct Claim: Sendable {
    let slot: Int
    let owner: UInt64
    /// Bytes in work that no row counts.
    let bytes: Int64
    let capacity: Int64
  }

  static let name = "Cache.room"
  static let byteCount = 4_096
  private static let magic: UInt64 = 0x316D_6F6F_7263_6848
  private static let headerWords = 8
  private static let slotWords = 4
  private static let slots = (byteCount / 8 - headerWords) / slotWords

  /// Maps the file of a directory, and makes it first if need be; what is none of ours in its place is
  /// removed.
  ///
  /// - Returns: nil where memory cannot be shared through it.
  static func map(in directory: OpenFile) -> RoomFile? {
    guard shim_is_on_network(directory.descriptor) == 0 else { return nil }
    if let file = RoomFile(mapping: directory) { return file }
    guard isForeign(in: directory), unlinkat(directory.descriptor, name, 0) == 0 else { return nil }
    return RoomFile(mapping: directory)
  }

  /// Whether something else lies in the file's place; not if it only cannot be opened now, since others may
  /// have it mapped.
  private static func isForeign(in directory: OpenFile) -> Bool {
    var status = stat()
    guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFREG else { return true }
    guard let file = try? OpenFile(name, in: directory, flags: O_RDONLY | O_NONBLOCK) else { return false }
    var first: UInt64 = 0
    let count = withUnsafeMutableBytes(of: &first) { (try? file.read(into: $0, at: 0)) ?? 0 }
    return count == 8 && first != 0 && first != magic
  }

  private init?(mapping directory: OpenFile) {
    guard
      let file = try? OpenFile(Self.name, in: directory, flags: O_RDWR | O_CREAT | O_NONBLOCK),
      let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    // Reserved, since writing into a hole of a full file system would kill the process; never shorter,
    // since others may have it mapped.
    if status.st_size < off_t(Self.byteCount) || Int64(status.st_blocks) * 512 < Self.byteCount {
      guard shim_allocate(file.descriptor, Int64(Self.byteCount)) == 0 else { return nil }
    }
    guard
      let memory = mmap(
        nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
      memory != MAP_FAILED
    else { return nil }
    let mapped = memory.bindMemory(to: UInt64.self, capacity: Self.byteCount / 8)
    _ = shim_atomic_exchange(mapped, 0, Self.magic)
    guard shim_atomic_load(mapped) == Self.magic else {
      munmap(memory, Self.byteCount)
      return nil
    }
    words = mapped
  }

  deinit { munmap(words, Self.byteCount) }

  private func cell(_ slot: Int, _ word: Int) -> UnsafeMutablePointer<UInt64> {
    words + Self.headerWords + slot * Self.slotWords + word
  }

  /// Takes a slot; nil if there is none left.
  func claim(owner: UInt64, bytes: Int64, capacity: Int64) -> Int? {
    for slot in 0..<Self.slots where shim_atomic_exchange(cell(slot, 0), 0, owner) == 1 {
      set(slot, bytes: bytes, capacity: capacity)
      return slot
    }
    return nil
  }

  func set(_ slot: Int, bytes: Int64, capacity: Int64) {
    shim_atomic_store(cell(slot, 2), UInt64(clamping: capacity))
    shim_atomic_store(cell(slot, 1), UInt64(clamping: bytes))
  }

  /// Gives a slot back, if this owner has it.
  func release(_ slot: Int, of owner: UInt64) {
    guard shim_atomic_load(cell(slot, 0)) == owner else { return }
    // A capacity of 0 is none: who claims the slot next has not told its own yet.
    set(slot, bytes: 0, capacity: 0)
    _ = shim_atomic_exchange(cell(slot, 0), owner, 0)
  }

  /// What others say than the store with this slot.
  func claims(sparing own: Int?) -> [Claim] {
    var claims: [Claim] = []
    for slot in 0..<Self.slots where slot != own {
      let owner = shim_atomic_load(cell(slot, 0))
      guard owner != 0 else { continue }
      let capacity = Int64(clamping: shim_atomic_load(cell(slot, 2)))
      claims.append(
        Claim(
          slot: slot, owner: owner, bytes: min(1 << 50, Int64(clamping: shim_atomic_load(cell(slot, 1)))),
          capacity: capacity == 0 ? .max : capacity - 1))
    }
    return claims
  }
}
