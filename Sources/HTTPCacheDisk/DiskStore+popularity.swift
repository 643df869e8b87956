package import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What was written of popularity, and by whom.
struct Popularity: Sendable {
  /// A number of this store's own.
  let writer = UInt64.random(in: .min ... .max)
  /// The number of look-ups that are in the file.
  var savedLookups = 0
  var isLoaded = false
}

/// `Cache.use`: how often what was looked up, so that a process goes on with what those before it knew.
///
/// It is whole or not there, and nothing depends on it: what is damaged, or of another size than a
/// sketch has, is ignored. Of several processes each takes in what another one wrote since, at half its
/// weight, before it writes; where two write at the same time, the last one's stays.
extension DiskStore {
  static let popularityName = "Cache.use"
  private static let leastLookups = 4_096

  /// Goes on with what was known when the last process ended; on a thread of the store's own.
  func loadPopularity(in parts: StoreParts) {
    parts.popularityBytes.store(parts.directory.size(of: Self.popularityName), ordering: .relaxed)
    guard !popularity.withLock({ $0.isLoaded }) else { return }
    if let found = readPopularity(in: parts) {
      merge(found.sketch, isHalved: false)
    }
    popularity.withLock { $0.isLoaded = true }
  }

  /// Waits until what was known when the last process ended is known.
  package func loadPopularity() async {
    _ = try? await fileQueue.run { [self] in loadPopularity(in: currentParts) }
  }

  /// How often a key was looked up lately, from 0 to 15.
  package func frequency(of key: CacheKey) -> Int {
    let hash = currentParts.hashes.hash(of: key)
    return policy.withLock { $0.frequency(of: hash) }
  }

  /// Forgets all uses: the index was replaced, and with it the secret under which keys were hashed.
  func forgetUses() {
    policy.withLock { $0 = EvictionPolicy(exponent: Self.evictionExponent, inflation: $0.inflation) }
    popularity.withLock { $0 = Popularity() }
    batch.withLock { $0.touches = [:] }
  }

  /// Writes what is known if much has been learnt since.
  func savePopularityIfDue(in parts: StoreParts) {
    let (lookups, bytes) = policy.withLock { ($0.lookups, $0.sketch.byteCount) }
    // Some bytes for each look-up, whatever the size.
    let least = max(Self.leastLookups, bytes / 16)
    guard lookups - popularity.withLock({ $0.savedLookups }) >= least else { return }
    savePopularity(in: parts)
  }

  /// Writes what is known, if there is anything new. A failure costs nothing but that.
  func savePopularity(in parts: StoreParts) {
    let lookups = policy.withLock { $0.lookups }
    let known = popularity.withLock { $0 }
    guard lookups != known.savedLookups else { return }
    if !known.isLoaded {
      loadPopularity(in: parts)
    } else if let found = readPopularity(in: parts), found.writer != known.writer {
      merge(found.sketch, isHalved: true)
    }
    let bytes = copyOfSketch().encoded(by: known.writer, secretMark: parts.hashes.secretMark)
    guard (try? write(popularity: bytes, to: parts)) != nil else { return }
    parts.popularityBytes.store(Int64(bytes.count), ordering: .relaxed)
    popularity.withLock { $0.savedLookups = lookups }
  }

  // Words of a sketch that are worked on at once under the lock that each look-up takes: some microseconds.
  private static let wordsAtOnce = 4_096

  private func merge(_ other: FrequencySketch, isHalved: Bool) {
    let count = policy.withLock { $0.sketch.words.count }
    let other = other.prepared(toMerge: count, isHalved: isHalved)
    for start in stride(from: 0, to: other.words.count, by: Self.wordsAtOnce) {
      policy.withLock { $0.merge(other, words: start..<start + Self.wordsAtOnce) }
    }
  }

  /// A copy of its own, a part at a time: of one that shares memory, the next look-up would have to copy all.
  private func copyOfSketch() -> FrequencySketch {
    while true {
      let count = policy.withLock { $0.sketch.words.count }
      var words: [UInt64] = []
      words.reserveCapacity(count)
      for start in stride(from: 0, to: count, by: Self.wordsAtOnce) {
        policy.withLock { words += $0.sketch.words[start..<min(count, start + Self.wordsAtOnce)] }
      }
      let (now, uses) = policy.withLock { ($0.sketch.words.count, $0.sketch.uses) }
      // It may have grown meanwhile.
      guard now == count else { continue }
      var copy = FrequencySketch(expectedEntries: 0)
      copy.replace(words: words, uses: uses)
      return copy
    }
  }

  private func readPopularity(
    in parts: StoreParts
  ) -> (sketch: FrequencySketch, writer: UInt64)? {
    guard
      let file = try? OpenFile(
        Self.popularityName, in: parts.directory.root, flags: O_RDONLY | O_NONBLOCK),
      let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= off_t(FrequencySketch.longestEncoding)
    else { return nil }
    parts.popularityBytes.store(Int64(status.st_size), ordering: .relaxed)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = bytes.withUnsafeMutableBytes { try? file.read(into: $0, at: 0) }
    guard count == bytes.count else { return nil }
    return FrequencySketch.decode(bytes, secretMark: parts.hashes.secretMark)
  }

  private func write(popularity bytes: [UInt8], to parts: StoreParts) throws(CacheError) {
    let (name, root) = (Self.popularityName + ".new", parts.directory.root)
    let file = try OpenFile(name, in: root, flags: O_WRONLY | O_CREAT | O_NONBLOCK)
    // Somebody else may be writing it, or have just given it its name.
    guard file.tryLock(), FileIdentity(name, in: root) == FileIdentity(try file.status()) else {
      throw CacheError(.busy, "somebody else writes \(name)")
    }
    guard ftruncate(file.descriptor, 0) == 0 else { throw SystemError.last("empty \(name)") }
    do throws(CacheError) {
      try BodyBytes(bytes).withUnsafeBytes { (buffer) throws(CacheError) in try file.write(buffer, at: 0) }
      guard renameat(root.descriptor, name, root.descriptor, Self.popularityName) == 0 else {
        throw SystemError.last("rename \(name)")
      }
    } catch {
      unlinkat(root.descriptor, name, 0)
      throw error
    }
  }
}
