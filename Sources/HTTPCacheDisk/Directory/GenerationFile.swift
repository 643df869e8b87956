import CSystemShims
import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore

/// `Cache.gen`: counters in memory that all processes of a directory share.
///
/// The file has words of 8 bytes in the byte order of the machine. The first part has a magic number, the
/// global counter, the number of times the index was replaced, a random number that names the file, the
/// highest number of a committed change of the index, and one counter for each of 8,187 classes of key
/// hashes. The second part has the number of the last invalidation, of the last invalidation of everything,
/// of the last invalidation for each of 7,934 classes of scopes (`InvalidationScope`), and of the last wipe for each of
/// 256 classes of partitions.
struct GenerationFile {
  /// The counters in the file; those of this process alone, where memory cannot be shared.
  let changes: ChangeCounters
  /// Device and inode of the mapped file; nil for counters of this process alone.
  let identity: FileIdentity?

  /// Whether other processes see the counters.
  var isShared: Bool { identity != nil }

  private static let keyClasses = 8_187
  private static let scopeClasses = 8_190 - ChangeCounters.wipeClasses
  private static let mark: UInt64 = 0x3230_6E65_4763_6848
  static let byteCount = ChangeCounters.wordCount(keyClasses: keyClasses, scopeClasses: scopeClasses) * 8
  private static let name = CacheDirectory.generationsName

  /// Counters of this process alone.
  init() {
    changes = ChangeCounters()
    identity = nil
  }

  /// Maps the file of a directory, and makes it if needed. A file of another kind in its place is removed.
  /// The caller must hold the lock of the directory, so that no other process does this at the same time.
  ///
  /// - Throws: `CacheError.unavailable` if memory cannot be shared through the file.
  static func map(in directory: CacheFile) throws(CacheError) -> GenerationFile {
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
  private init(in directory: CacheFile) throws(CacheError) {
    let (name, byteCount) = (Self.name, Self.byteCount)
    let file = try CacheFile(name, in: directory, flags: O_RDWR | O_CREAT | O_NONBLOCK)
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
    guard
      let changes = ChangeCounters.shared(
        in: memory, mark: Self.mark, keyClasses: Self.keyClasses, scopeClasses: Self.scopeClasses,
        release: { munmap(memory, byteCount) })
    else { throw CacheError(.damaged, "\(name) is not ours") }
    self.changes = changes
    identity = FileIdentity(status)
  }
}
