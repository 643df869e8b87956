import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Synchronization
import Testing

/// Partial bodies: their whole chunks are stored.
@Suite(.timeLimit(.minutes(10))) struct SealedPartTests {
  private static let chunk: Int64 = 65_508
  private static let length = 20 * chunk + 1_000
  private let body = StoreSample.body(Int(length))
  private let directory: SealedDirectory
  private let store: SealedStore

  init() throws {
    directory = try SealedDirectory()
    store = try directory.sealed(try directory.disk())
  }

  private func part(
    _ range: Range<Int64>, of length: Int64? = length, key: CacheKey = StoreSample.key()
  ) async throws -> CacheRecord {
    try await store.store(
      StoreSample.record(key).storing([range], bodyLength: length),
      body[Int(range.lowerBound)..<Int(range.upperBound)])
  }

  // The bytes that arrived, and the bytes that are kept.
  private static let cuts: [(Range<Int64>, Range<Int64>)] = {
    let end = 20 * chunk
    return [
      (0..<chunk, 0..<chunk),
      (0..<(2 * chunk - 1), 0..<chunk),
      (1..<(3 * chunk), chunk..<(3 * chunk)),
      (chunk..<(5 * chunk + 7), chunk..<(5 * chunk)),
      ((end - chunk + 5)..<length, end..<length),
      (0..<(length - 1), 0..<end),
    ]
  }()

  @Test("of a part whole chunks are kept", arguments: cuts)
  func wholeChunksAreKept(came: Range<Int64>, kept: Range<Int64>) async throws {
    let stored = try await part(came)
    #expect(stored.storedRanges == [kept])
    let variant = try #require(try store.read(StoreSample.key()).first)
    #expect(variant.record.storedRanges == [kept])
    let reader = try variant.body.open()
    #expect(reader.availableRanges == [kept])
    #expect(reader.length == Self.length)
    let expected = body[Int(kept.lowerBound)..<Int(kept.upperBound)].array
    #expect(try await reader.readAll(from: kept.lowerBound) == expected)
    #expect(try await reader.read(kept.upperBound..<kept.upperBound + 1).isEmpty)
  }

  @Test("as long as the length is not known, the chunk at the end may be the last one")
  func endOfUnknownLength() async throws {
    #expect(try await part(0..<3 * Self.chunk, of: nil).storedRanges == [0..<2 * Self.chunk])
    #expect(try await part(0..<3 * Self.chunk + 1, of: nil).storedRanges == [0..<3 * Self.chunk])
  }

  @Test("a part without a whole chunk can be read while it comes, and is not stored")
  func smallPart() async throws {
    let record = StoreSample.record().storing([100..<60_000], bodyLength: Self.length)
    let writer = try await store.write(record, variantLimit: 8)
    let reader = try writer.reader()
    try await writer.append(body[100..<60_000])
    #expect(try await reader.readAll(from: 100) == body[100..<60_000].array)
    try await writer.commit(trailers: [:])
    #expect(try await reader.readAll(from: 100) == body[100..<60_000].array)
    #expect(try store.read(StoreSample.key()).isEmpty)
    #expect(store.usage.diskEntries == 0)
  }

  @Test("all that comes can be read while it comes, also what will be in no chunk")
  func everythingIsRead() async throws {
    let (start, end) = (Self.chunk / 2, 3 * Self.chunk + 77)
    let record = StoreSample.record().storing([start..<end], bodyLength: Self.length)
    let writer = try await store.write(record, variantLimit: 8)
    let reader = try writer.reader()
    var position = start
    while position < end {
      let next = min(end, position + 10_007)
      try await writer.append(body[Int(position)..<Int(next)])
      position = next
      #expect(reader.availableRanges == [start..<position])
      #expect(try await reader.readAll(from: start) == body[Int(start)..<Int(position)].array)
    }
    try await writer.commit(trailers: [:])
    #expect(try await reader.readAll(from: start) == body[Int(start)..<Int(end)].array)
  }

  @Test("what broke off is kept, found by another store, and completed")
  func resume() async throws {
    for cut in [Self.chunk, 5 * Self.chunk + 9, 9 * Self.chunk, Self.length - 1] {
      let key = StoreSample.key("/\(cut)")
      let record = CacheRecord(
        key: key, response: StoreSample.response(), bodyLength: Self.length, isResumable: true)
      let writer = try await store.write(record, variantLimit: 8)
      try await writer.append(body.prefix(Int(cut)))
      let kept = try #require(try await writer.keep())
      let end = cut / Self.chunk * Self.chunk
      #expect(kept.storedRanges == [0..<end])
      let other = try directory.sealed(try directory.disk())
      let found = try #require(try other.read(key).first?.record)
      #expect(found.storedRanges == [0..<end])
      let rest = try await other.extend(found, at: end)
      let reader = try rest.reader()
      try await rest.append(body.dropFirst(Int(end)))
      #expect(try await reader.readAll() == body.array)
      let stored = try await rest.commit(trailers: [.eTag: "\"late\""])
      #expect(stored.isComplete)
      #expect(stored.bodyLength == Self.length)
      #expect(try await reader.readAll() == body.array)
      #expect(try await store.onlyBody(key) == body.array)
      #expect(try store.read(key).first?.record.response.trailers == [.eTag: "\"late\""])
    }
    #expect(directory.damage.withLock { $0.isEmpty })
  }

  @Test("a body of unknown length is kept and completed when its length is known")
  func resumeUnknownLength() async throws {
    let record = CacheRecord(
      key: StoreSample.key(), response: StoreSample.response(), isResumable: true)
    let writer = try await store.write(record, variantLimit: 8)
    // As long as whole chunks, so that only a further byte shows that this is not the end.
    try await writer.append(body.prefix(Int(4 * Self.chunk)))
    let kept = try #require(try await writer.keep())
    #expect(kept.storedRanges == [0..<3 * Self.chunk])
    #expect(kept.bodyLength == nil)
    let whole = body.prefix(Int(4 * Self.chunk))
    let rest = try await store.extend(
      kept.storing(kept.storedRanges, bodyLength: 4 * Self.chunk), at: 3 * Self.chunk)
    try await rest.append(whole.dropFirst(Int(3 * Self.chunk)))
    #expect(try await rest.commit(trailers: [:]).isComplete)
    #expect(try await store.onlyBody(StoreSample.key()) == whole.array)
  }

  @Test("what is added counts in the clear, so that no part gets larger than the largest entry")
  func largestEntry() async throws {
    // So many chunks that the largest overhead of a cipher adds up to more than a chunk.
    let (limit, length) = (80 * Self.chunk, 100 * Self.chunk)
    let body = StoreSample.body(Int(length))
    let disk = try DiskStore.open(
      directory: directory.newPath(), capacity: 256 << 20,
      largestEntry: .bytes(SealedStore.longestSealed(of: limit)), clock: directory.clock)
    let cipher = try SealedDirectory.cipher(of: disk.secret)
    let store = try SealedStore(base: disk, cipher: cipher, largestEntry: limit)
    let record = StoreSample.record().storing([0..<70 * Self.chunk], bodyLength: length)
    let part = try await store.store(record, body.prefix(Int(70 * Self.chunk)))
    // Some of its bytes are stored already.
    let writer = try await store.extend(part, at: 60 * Self.chunk)
    try await writer.append(body.dropFirst(Int(60 * Self.chunk)).prefix(Int(20 * Self.chunk)))
    let error = await #expect(throws: CacheError.self) { try await writer.append(body.prefix(1)) }
    #expect(error?.code == .tooLarge)
    let kept = try #require(try store.read(StoreSample.key()).first)
    #expect(kept.record.storedRanges == [0..<limit])
    #expect(try await kept.body.open().readAll() == body.prefix(Int(limit)).array)
    #expect(try await disk.verify(repair: false).isSound)
  }

  @Test("a hole is filled, and what is there already is passed over")
  func hole() async throws {
    let first = try await part(0..<4 * Self.chunk)
    let late = try await store.extend(first, at: 8 * Self.chunk)
    try await late.append(body.dropFirst(Int(8 * Self.chunk)))
    let two = try await late.commit(trailers: [:])
    #expect(two.storedRanges == [0..<4 * Self.chunk, 8 * Self.chunk..<Self.length])
    let over = try await store.extend(two, at: 2 * Self.chunk)
    try await over.append(body.dropFirst(Int(2 * Self.chunk)))
    #expect(try await over.commit(trailers: [:]).isComplete)
    #expect(try await store.onlyBody(StoreSample.key()) == body.array)
  }

  @Test("a part is freshened, invalidated and removed like the whole")
  func freshen() async throws {
    let stored = try await part(0..<4 * Self.chunk)
    #expect(try await store.invalidate(.key(stored.key)) == 1)
    let found = try #require(try store.read(stored.key).first?.record)
    #expect(found.response.isInvalidated)
    var response = stored.response
    response.head.headerFields[.eTag] = "\"fresh\""
    #expect(
      try await store.update(
        found.with(response: response, ticket: store.ticket()).storing([0..<1], bodyLength: nil)))
    let after = try #require(try store.read(stored.key).first)
    #expect(after.record.response == response)
    #expect(after.record.storedRanges == [0..<4 * Self.chunk])
    #expect(try await after.body.open().readAll() == body.prefix(Int(4 * Self.chunk)).array)
    #expect(try await store.remove(.variant(stored.key, sequence: stored.sequence)) == 1)
    #expect(try store.read(stored.key).isEmpty)
  }

  @Test("only one adds to a part, and not to what is of another length")
  func refused() async throws {
    let stored = try await part(0..<4 * Self.chunk)
    let first = try await store.extend(stored, at: 4 * Self.chunk)
    await #expect(throws: CacheError.self) { _ = try await store.extend(stored, at: 4 * Self.chunk) }
    first.abandon()
    for length in [Self.length - 1, Self.length + 1, 3 * Self.chunk] {
      await #expect(throws: CacheError.self) {
        _ = try await store.extend(stored.storing(nil, bodyLength: length), at: 4 * Self.chunk)
      }
    }
  }
}
