import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Synchronization
import Testing

/// A program that can write to the directory cannot make the cache answer with anything but what was stored.
@Suite(.timeLimit(.minutes(10))) struct SealedDamageTests {
  private static let slot = 65_536
  private let directory: SealedDirectory
  // Holds ciphertext that the test puts there, as the owner of the directory could.
  private let base = MemoryStore(capacity: 64 << 20)
  private let store: SealedStore
  private let body = StoreSample.body(200_000)

  init() throws {
    directory = try SealedDirectory()
    store = try directory.sealed(base)
  }

  private func below() async throws -> (record: CacheRecord, bytes: [UInt8]) {
    let page = try await base.entries(.all, after: nil, limit: 10)
    let record = try #require(page.entries.first?.record)
    let variant = try #require(try base.read(record.key).first)
    return (record, try await variant.body.open().readAll())
  }

  // Replaces an entry of the base.
  private func replace(_ record: CacheRecord, _ bytes: [UInt8]) async throws {
    try await base.store(
      CacheRecord(
        key: record.key, response: record.response, bodyLength: Int64(bytes.count),
        groups: record.groups, userInfo: record.userInfo, isPinned: record.isPinned),
      BodyBytes(bytes))
  }

  private func isMiss() async -> Bool {
    do {
      guard let found = try store.read(StoreSample.key()).first else { return true }
      _ = try await found.body.open().readAll()
      return false
    } catch { return true }
  }

  @Test("a chunk that was changed, moved, repeated, cut or comes of another body is found", arguments: 0..<12)
  func chunks(_ number: Int) async throws {
    try await store.store(StoreSample.record(), StoreSample.body(200_000, seed: 9))
    let other = try await below().bytes
    try await store.store(StoreSample.record(), body)
    let (record, bytes) = try await below()
    #expect(bytes.count == 200_000 + 4 * 28)
    var changed = bytes
    switch number {
    case 0: changed[0] ^= 1
    case 1: changed[12] ^= 0x80
    case 2: changed[Self.slot - 1] ^= 1
    case 3: changed[bytes.count - 1] ^= 1
    case 4: changed[3 * Self.slot + 20] ^= 1
    case 5:
      changed.replaceSubrange(0..<Self.slot, with: bytes[Self.slot..<2 * Self.slot])
      changed.replaceSubrange(Self.slot..<2 * Self.slot, with: bytes[0..<Self.slot])
    case 6: changed.replaceSubrange(Self.slot..<2 * Self.slot, with: bytes[0..<Self.slot])
    case 7: changed.removeLast(bytes.count - 2 * Self.slot)
    case 8: changed.removeLast()
    case 9: changed.replaceSubrange(0..<Self.slot, with: other[0..<Self.slot])
    case 10: changed = other
    default: changed.replaceSubrange(0..<12, with: [UInt8](repeating: 0, count: 12))
    }
    try await replace(record, changed)
    #expect(await isMiss())
    #expect(directory.damage.withLock { !$0.isEmpty })
    await store.flush()
    #expect(try base.read(record.key).isEmpty, "what is damaged is removed")
  }

  @Test("a record that was changed, cut, or comes of another key or variant is found", arguments: 0..<9)
  func records(_ number: Int) async throws {
    try await store.store(
      StoreSample.record(StoreSample.key("/other")), StoreSample.body(200_000, seed: 9))
    let (otherKey, otherBytes) = try await below()
    try await store.remove(.all)
    try await store.store(StoreSample.record(language: "de"), body)
    let (otherVariant, _) = try await below()
    try await store.remove(.all)
    try await store.store(StoreSample.record(), body)
    let (record, bytes) = try await below()
    var (userInfo, response, stored) = (record.userInfo, record.response, bytes)
    switch number {
    case 0: userInfo[0] ^= 1
    case 1: userInfo[30] ^= 1
    case 2: userInfo[userInfo.count - 1] ^= 1
    case 3: userInfo.removeLast()
    case 4: userInfo = []
    case 5: (userInfo, response, stored) = (otherKey.userInfo, otherKey.response, otherBytes)
    case 6: (userInfo, response) = (otherVariant.userInfo, record.response)
    case 7: response.trailers = [:]
    default: response.trailers = otherKey.response.trailers
    }
    try await base.store(
      CacheRecord(
        key: record.key, response: response, bodyLength: Int64(stored.count), userInfo: userInfo),
      BodyBytes(stored))
    #expect(await isMiss())
    await store.flush()
    #expect(try base.read(record.key).isEmpty, "what is damaged is removed")
  }

  @Test("what the index says of groups and pins is found if it is not what was sealed", arguments: 0..<5)
  func memberships(_ number: Int) async throws {
    let record = CacheRecord(
      key: StoreSample.key(), response: StoreSample.response(), groups: ["a", "b"],
      isPinned: number == 4)
    try await store.store(record, body)
    let (below, bytes) = try await below()
    #expect(below.groups.count == 2 && below.isPinned == (number == 4))
    var (groups, isPinned) = (below.groups, below.isPinned)
    switch number {
    case 0: groups = []
    case 1: groups.removeLast()
    case 2: groups.append("c")
    default: isPinned.toggle()
    }
    try await base.store(
      CacheRecord(
        key: below.key, response: below.response, bodyLength: Int64(bytes.count), groups: groups,
        userInfo: below.userInfo, isPinned: isPinned),
      BodyBytes(bytes))
    #expect(try store.read(record.key).isEmpty)
    #expect(directory.damage.withLock { !$0.isEmpty })
    await store.flush()
    #expect(try base.read(below.key).isEmpty, "what is damaged is removed")
  }

  @Test("a cipher that fails for a moment costs no entry")
  func lockedCipher() async throws {
    try await store.store(StoreSample.record(), body)
    let cipher = try SealedDirectory.cipher(of: base.secret)
    let locked = try SealedStore(base: base, cipher: LockedCipher(cipher: cipher))
    #expect(try locked.read(StoreSample.key()).isEmpty)
    await locked.flush()
    #expect(try await store.onlyBody(StoreSample.key()) == body.array)
  }

  @Test("what is right around the damage can be read, and no byte of the damage")
  func rangesBesideDamage() async throws {
    try await store.store(StoreSample.record(), body)
    var (record, bytes) = try await below()
    bytes[Self.slot + 100] ^= 1
    try await replace(record, bytes)
    let reader = try #require(try store.read(StoreSample.key()).first).body.open()
    #expect(try await reader.read(0..<65_508).array == body.prefix(65_508).array)
    await #expect(throws: CacheError.self) { try await reader.read(65_507..<65_509) }
    #expect(try await reader.read(131_016..<200_000).array == body.dropFirst(131_016).array)
  }

  @Test("bodies around the borders of chunks come back byte for byte, in any range")
  func borders() async throws {
    for size in [0, 1, 65_507, 65_508, 65_509, 131_015, 131_016, 131_017] {
      let key = StoreSample.key("/\(size)")
      let bytes = StoreSample.body(size)
      for length in [Int64(size), nil] {
        try await store.store(StoreSample.record(key, bodyLength: length), bytes, piece: 40_000)
        let found = try #require(try store.read(key).first)
        #expect(found.record.bodyLength == Int64(size))
        #expect(try await found.body.open().readAll(piece: 7_777) == bytes.array)
        #expect(try await found.body.open().readAll() == bytes.array)
      }
    }
    #expect(directory.damage.withLock { $0.isEmpty })
  }
}

/// Cannot open anything at the moment.
private struct LockedCipher: CacheCipher {
  let cipher: any CacheCipher

  var keyID: [UInt8] { cipher.keyID }
  var overhead: Int { cipher.overhead }

  func seal(
    _ bytes: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError) {
    try cipher.seal(bytes, for: purpose, context: context, into: output)
  }

  func open(
    _ sealed: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError) {
    throw CacheError(.unavailable, "the key is locked")
  }

  func digest(_ bytes: [UInt8]) -> [UInt8] { cipher.digest(bytes) }
}
