import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

extension ScratchFolder {
  /// The paths of all body files, below `bodies`.
  func bodyFiles() throws -> [String] {
    let bodies = path("cache/bodies")
    return try FileManager.default.contentsOfDirectory(atPath: bodies).sorted()
  }
}

/// A store in a new directory with a clock that does not advance by itself.
struct Fixture {
  let directory: ScratchFolder
  let clock: ManualClock
  let store: DiskStore

  init(
    capacity: Int64 = 64 << 20, largestEntry: LargestEntry = .default, durability: Durability = .relaxed,
    verification: Verification = .firstRead
  ) throws {
    directory = try ScratchFolder()
    clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
    // Whatever the machine has free, nothing is evicted for it.
    store = try DiskStore.open(
      directory: directory.path("cache"), capacity: capacity, largestEntry: largestEntry,
      minimumFreeSpace: 0,
      options: DiskStore.Options(durability: durability, verification: verification), clock: clock)
  }

  /// The path of the index.
  var database: String { directory.path("cache/Cache.db") }

  /// Runs SQL statements on the index without the store's knowledge.
  func execute(_ sql: String) throws { try HTTPCacheDiskTests.execute(sql, on: database) }

  /// The first column of the first row of a query of the index.
  func number(_ sql: String) throws -> Int64 { try HTTPCacheDiskTests.number(sql, on: database) }

  /// Overwrites all pages of the index but the first.
  func overwriteIndex() async throws {
    await store.flush()
    let size = try #require(
      try FileManager.default.attributesOfItem(atPath: database)[.size] as? NSNumber)
    try overwrite(database, at: 4_096, with: [UInt8](repeating: 0xA5, count: size.intValue - 4_096))
  }

  /// The path of the only body file.
  func bodyPath() throws -> String {
    let files = try directory.bodyFiles()
    try #require(files.count == 1)
    return directory.path("cache/bodies/" + files[0])
  }

  /// Another store on the same directory, like the store of another process.
  func other(verification: Verification = .firstRead) throws -> DiskStore {
    try DiskStore.open(
      directory: directory.path("cache"), capacity: 64 << 20,
      options: DiskStore.Options(verification: verification), clock: clock)
  }
}

func key(_ path: String, partition: String = "", mode: CacheMode = .private) -> CacheKey {
  CacheKey(mode: mode, partition: partition, target: "https://example.com" + path)
}

func record(
  _ path: String, partition: String = "", language: String? = nil, groups: [String] = [],
  bodyLength: Int64? = nil, storedRanges: [Range<Int64>]? = nil, isPinned: Bool = false,
  isMemoryOnly: Bool = false
) throws -> CacheRecord {
  var head = HTTPResponse(status: .ok)
  head.headerFields[.contentType] = "text/plain"
  head.headerFields.append(
    HTTPField(name: try #require(HTTPField.Name("X-Two")), value: "one"))
  head.headerFields.append(
    HTTPField(name: try #require(HTTPField.Name("x-two")), value: "two"))
  let nominated = language.map {
    [NominatedField(name: .acceptLanguage, value: .text($0))]
  }
  return CacheRecord(
    key: key(path, partition: partition),
    response: StoredResponse(
      requestMethod: .get, nominated: nominated ?? [], head: head,
      requestTime: Timestamp(seconds: 1_800_000_000), responseTime: Timestamp(seconds: 1_800_000_001),
      facts: ReuseFacts(freshnessLifetime: 60, lifetimeSource: .maxAge, correctedInitialAge: 1)),
    bodyLength: bodyLength, storedRanges: storedRanges, groups: groups, userInfo: [1, 2, 3],
    isPinned: isPinned, isMemoryOnly: isMemoryOnly)
}

func overwrite(_ path: String, at offset: UInt64, with bytes: [UInt8]) throws {
  let handle = try #require(FileHandle(forUpdatingAtPath: path))
  try handle.seek(toOffset: offset)
  try handle.write(contentsOf: Data(bytes))
  try handle.close()
}

/// Pseudorandom bytes, so that all blocks differ.
func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  var words: [UInt64] = []
  words.reserveCapacity(count / 8 + 1)
  for _ in 0...count / 8 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    words.append(state)
  }
  return words.withUnsafeBytes { Array($0[..<count]) }
}

extension DiskStore {
  /// Stores a body in pieces.
  @discardableResult
  func put(
    _ record: CacheRecord, _ body: [UInt8], pieces: Int = 64 << 10, variantLimit: Int = 32
  ) async throws -> CacheRecord {
    try await store(record, BodyBytes(body), piece: pieces, variantLimit: variantLimit)
  }

  /// Stores a body, unless the response to a later request is stored already.
  func putIfLatest(_ record: CacheRecord, _ body: [UInt8]) async throws {
    do { try await put(record, body) } catch let error as CacheError where error.code == .superseded {}
  }

  /// The whole body of the only variant of a key; nil if the key has no variant.
  func body(_ key: CacheKey) async throws -> [UInt8]? {
    guard let variant = try read(key).first else { return nil }
    let reader = try variant.body.open()
    return try await reader.read(0..<(reader.length ?? 0)).array
  }
}
