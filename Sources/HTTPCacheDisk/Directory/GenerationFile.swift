import CSystemShims
import HTTPCacheFiles
import HTTPCacheSemantics
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
/// The file has words of 8 bytes in the byte order of the machine. The first part has a magic number, the
/// global counter, the number of times the index was replaced, a random number that names the file, the
/// highest number of a committed change of the index, and one counter for each of 8,187 classes of key
/// hashes. The second part has the number of the last invalidation, of the last invalidation of everything,
/// and of the last invalidation for each of 8,190 classes of scopes (`InvalidationScope`).
final class GenerationFile: @unchecked Sendable {
  // @unchecked Sendable because the memory is only read and written by atomic operations, and unmapped only in
  // deinit.
  private let words: UnsafeMutablePointer<UInt64>
  /// Device and inode of the mapped file; nil for counters of this process alone.
  let identity: FileIdentity?

  /// Whether other processes see the counters.
  var isShared: Bool { identity != nil }

  private static let wordCount = 16_384
  private static let firstPart = 8_192
  private static let headerWords = 5
  private static let magic: UInt64 = 0x3130_6E65_4763_6848
  static let byteCount = wordCount * 8
  private static let name = CacheDirectory.generationsName

  /// Counters of this process alone, where memory cannot be shared.
  init() {
    words = .allocate(capacity: Self.wordCount)
    words.initialize(repeating: 0, count: Self.wordCount)
    identity = nil
    Self.initialize(words + 3, to: .random(in: 1 ... .max))
  }

  /// Maps the file of a directory, and makes it if needed. A file of another kind in its place is removed.
  /// The caller must hold the lock of the directory, so that no other process does this at the same time.
  ///
  /// - Throws: `CacheError.unavailable` if memory cannot be shared through the file.
  static func map(in directory: DiskFile) throws(CacheError) -> GenerationFile {
    guard shim_is_on_network(directory.descriptor) == 0 else {
      throw CacheError(.unavailable, "a network file system does not share memory")
    }
    do throws(CacheError) { return try GenerationFile(in: directory) } catch {
      // A regular file that cannot be opened now must stay: other processes may have mapped it.
      let isForeign = directory.status(of: name).map { $0.st_mode & S_IFMT != S_IFREG } ?? false
      guard error.code == .damaged || isForeign, directory.remove(name) == 0 else { throw error }
      return try GenerationFile(in: directory)
    }
  }

  /// - Throws: `CacheError.damaged` if the path has another file.
  private init(in directory: DiskFile) throws(CacheError) {
    let (name, byteCount) = (Self.name, Self.byteCount)
    let file = try DiskFile(name, in: directory, flags: O_RDWR | O_CREAT | O_NONBLOCK)
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.damaged, "\(name) is no regular file")
    }
    // Allocate all blocks: a write into a hole would kill the process if the file system is full. A file of
    // another length is made longer, never shorter, because other processes may have mapped it.
    if status.st_size < off_t(byteCount) || Int64(status.st_blocks) * 512 < byteCount {
      let result = shim_allocate(file.descriptor, Int64(byteCount))
      guard result == 0 else { throw CacheError(number: -result, during: "make \(name)") }
    }
    guard
      let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
      memory != MAP_FAILED
    else { throw CacheError(.unavailable, "map \(name): \(String(cString: strerror(errno)))") }
    let mapped = memory.bindMemory(to: UInt64.self, capacity: Self.wordCount)
    Self.initialize(mapped, to: Self.magic)
    // Unmap the memory here: `deinit` does not run if the initializer throws.
    guard shim_atomic_load(mapped) == Self.magic else {
      munmap(memory, byteCount)
      throw CacheError(.damaged, "\(name) is not ours")
    }
    words = mapped
    identity = FileIdentity(status)
    // Only the first process that opens the file sets this word.
    Self.initialize(words + 3, to: .random(in: 1 ... .max))
  }

  deinit { if isShared { munmap(words, Self.byteCount) } else { words.deallocate() } }

  /// Sets a word that is still 0.
  private static func initialize(_ word: UnsafeMutablePointer<UInt64>, to value: @autoclosure () -> UInt64) {
    // An exchange writes to the page even if it changes nothing, and a directory of a newer version must stay untouched.
    if shim_atomic_load(word) == 0 { _ = shim_atomic_exchange(word, 0, value()) }
  }

  private func cell(_ hash: UInt64) -> UnsafeMutablePointer<UInt64> {
    // Use the upper bits: other hash tables use the lower bits.
    let classes = UInt64(Self.firstPart - Self.headerWords)
    return words + Self.headerWords + Int((hash >> 24) % classes)
  }

  /// A number that rises with each commit that may change an entry with this key hash.
  func generation(of hash: UInt64) -> UInt64 {
    shim_atomic_load(cell(hash)) &+ shim_atomic_load(words + 1)
  }

  /// The most keys whose counters are raised one by one.
  static let mostKeys = 256

  /// Raises the counters of keys, after a commit that changes their entries.
  func bump(_ hashes: [UInt64]) {
    guard hashes.count <= Self.mostKeys else { return bumpAll() }
    for hash in hashes { shim_atomic_increment(cell(hash)) }
  }

  /// Raises the global counter, after a commit that may change any entry.
  func bumpAll() { shim_atomic_increment(words + 1) }

  /// Sets all counters of each kind to the highest of them, so that they show nothing of earlier changes.
  /// Counts as a change of any key.
  func level() {
    for cells in [Self.headerWords..<Self.firstPart, Self.firstPart..<Self.wordCount] {
      let highest = cells.reduce(0) { max($0, shim_atomic_load(words + $1)) }
      for cell in cells { raise(words + cell, to: highest) }
    }
    bumpAll()
  }

  private func raise(_ cell: UnsafeMutablePointer<UInt64>, to number: UInt64) {
    while true {
      let now = shim_atomic_load(cell)
      if now >= number || shim_atomic_exchange(cell, now, number) == 1 { return }
    }
  }

  /// The number of times the index was replaced by another file.
  var replacements: UInt64 { shim_atomic_load(words + 2) }

  func bumpReplacements() {
    shim_atomic_increment(words + 2)
    bumpAll()
  }

  /// Notes that the change with this number was committed.
  func didCommit(_ sequence: Int64) { raise(words + 4, to: UInt64(clamping: sequence)) }

  // MARK: Invalidations

  private var lastInvalidation: UnsafeMutablePointer<UInt64> { words + Self.firstPart }
  private var lastOfEverything: UnsafeMutablePointer<UInt64> { words + Self.firstPart + 1 }

  private func scopeCell(_ hash: UInt64) -> UnsafeMutablePointer<UInt64> {
    words + Self.firstPart + 2 + Int((hash >> 24) % UInt64(Self.wordCount - Self.firstPart - 2))
  }

  /// The ticket of a request that is about to be sent.
  func ticket() -> InvalidationTicket {
    InvalidationTicket(
      source: shim_atomic_load(words + 3), number: shim_atomic_load(lastInvalidation),
      seen: shim_atomic_load(words + 4))
  }

  /// Notes that a selection was invalidated or removed, see `InvalidationLog.note(_:)`.
  func note(_ selection: CacheSelection) {
    for scope in InvalidationScope.all(of: selection) {
      let number = shim_atomic_add(lastInvalidation, 1)
      raise(scope == .everything ? lastOfEverything : scopeCell(scope.hash), to: number)
    }
  }

  /// Whether an invalidation may have overtaken a request; true for a ticket of another file.
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    guard ticket.source == shim_atomic_load(words + 3) else { return true }
    if shim_atomic_load(lastInvalidation) == ticket.number { return false }
    if shim_atomic_load(lastOfEverything) > ticket.number { return true }
    return InvalidationScope.contains(of: key, groups: groups, requestTarget: ticket.requestTarget) {
      shim_atomic_load(scopeCell($0)) > ticket.number
    }
  }
}
