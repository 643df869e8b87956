import CSystemShims
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `Cache.gen`: counters in memory that all processes of a directory share.
///
/// Words of 8 bytes, in the machine's order: a magic number, the global counter, the number of times
/// the database was replaced, a reserved one, then one counter for each of 8,188 classes of key hashes.
final class GenerationFile: @unchecked Sendable {
  // @unchecked Sendable because the memory is only read and written by atomic operations, and unmapped
  // only in deinit.
  private let words: UnsafeMutablePointer<UInt64>

  private static let wordCount = 8_192
  private static let headerWords = 4
  private static let magic: UInt64 = 0x3130_6E65_4763_6848
  static let byteCount = wordCount * 8

  /// Maps the file of a directory, and makes it first if need be.
  ///
  /// - Throws: `CacheError.unavailable` where memory cannot be shared through it.
  init(in directory: OpenFile) throws(CacheError) {
    guard shim_is_on_network(directory.descriptor) == 0 else {
      throw CacheError(.unavailable, "a network file system does not share memory")
    }
    let file = try OpenFile(
      CacheDirectory.generationsName, in: directory, flags: O_RDWR | O_CREAT)
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.unavailable, "Cache.gen is no regular file")
    }
    // Blocks are reserved, since writing into a hole of a full file system would kill the process. A
    // file of another length is made longer, never shorter: others may have it mapped.
    if status.st_size < off_t(Self.byteCount) || Int64(status.st_blocks) * 512 < Self.byteCount {
      let result = shim_allocate(file.descriptor, Int64(Self.byteCount))
      guard result == 0 else { throw SystemError.make(-result, "make Cache.gen") }
    }
    guard
      let memory = mmap(
        nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
      memory != MAP_FAILED
    else { throw CacheError(.unavailable, "map Cache.gen: \(String(cString: strerror(errno)))") }
    words = memory.bindMemory(to: UInt64.self, capacity: Self.wordCount)
    if words[0] == 0 { words[0] = Self.magic }
    guard words[0] == Self.magic else {
      munmap(memory, Self.byteCount)
      throw CacheError(.unavailable, "Cache.gen is not ours")
    }
  }

  deinit { munmap(words, Self.byteCount) }

  private func cell(_ hash: UInt64) -> UnsafeMutablePointer<UInt64> {
    // The upper half, since classes of other tables go by the lower one.
    let classes = UInt64(Self.wordCount - Self.headerWords)
    return words + Self.headerWords + Int((hash >> 24) % classes)
  }

  /// A number that rises with each commit that may concern a key with this hash.
  func generation(of hash: UInt64) -> UInt64 {
    shim_atomic_load(cell(hash)) &+ shim_atomic_load(words + 1)
  }

  /// After a commit that concerns these keys.
  func bump(_ hashes: [UInt64]) {
    guard hashes.count <= 64 else { return bumpAll() }
    for hash in hashes { shim_atomic_increment(cell(hash)) }
  }

  /// After a commit that may concern any key.
  func bumpAll() { shim_atomic_increment(words + 1) }

  /// How often the database was replaced by another file.
  var replacements: UInt64 { shim_atomic_load(words + 2) }

  func bumpReplacements() {
    shim_atomic_increment(words + 2)
    bumpAll()
  }
}
