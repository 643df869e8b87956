import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Synchronization
import Testing

/// Records and bodies of the largest possible size.
@Suite(.timeLimit(.minutes(10))) struct SealedBoundTests {
  private let directory: SealedDirectory
  private let store: SealedStore

  init() throws {
    directory = try SealedDirectory()
    store = try directory.sealed(try directory.disk())
  }

  private func note(steps: Int, text: String, section: String) -> RefusalNote {
    RefusalNote(
      key: StoreSample.key(), time: StoreSample.start, status: 200,
      explanation: CacheExplanation(
        steps: (0..<steps).map { CacheExplanation.Step("\($0)" + text, text, section: section) }))
  }

  @Test("the longest note that an engine writes comes back as it was")
  func longNote() async throws {
    let note = note(steps: 32, text: String(repeating: "a", count: 1_000), section: "RFC 9111 §3")
    store.note(note)
    await store.flush()
    #expect(try store.refusals(of: StoreSample.key()) == [note])
  }

  @Test("of a note for which there is no room, texts are cut, and none is lost", arguments: ["a", "é", "🦊"])
  func tooLongNote(_ text: String) async throws {
    let long = String(repeating: text, count: 3_000)
    store.note(note(steps: 40, text: long, section: long))
    await store.flush()
    let found = try #require(try store.refusals(of: StoreSample.key()).first)
    #expect(found.explanation.steps.count == 32)
    #expect(found.explanation.steps.last?.question.hasPrefix("39" + text) == true)
    #expect(found.explanation.steps.allSatisfy { $0.answer.hasPrefix(text) && $0.section.hasPrefix(text) })
  }

  private func record(_ path: String, fieldLength: Int) throws -> CacheRecord {
    var response = StoreSample.response()
    let name = try #require(HTTPField.Name("X-Long"))
    response.head.headerFields[name] = String(repeating: "x", count: fieldLength)
    return CacheRecord(key: StoreSample.key(path), response: response)
  }

  @Test("a head of almost a MiB is stored, a longer one refused as too large, and nothing of it stays")
  func longHeads() async throws {
    let most = 1 << 20
    let long = try record("/long", fieldLength: most - 2_000)
    try await store.store(long, StoreSample.body(100))
    #expect(try store.read(long.key).first?.record.response == long.response)
    for length in stride(from: most - 700, through: most + 100, by: 50) {
      let record = try record("/\(length)", fieldLength: length)
      do throws(CacheError) { try await store.store(record, StoreSample.body(100)) } catch {
        #expect(error.code == .tooLarge)
        #expect(try store.read(record.key).isEmpty)
        continue
      }
      #expect(try store.read(record.key).first?.record.response == record.response)
    }
    let trailers = try record("/trailers", fieldLength: 1)
    let writer = try await store.write(trailers, variantLimit: 8)
    try await writer.append(StoreSample.body(100))
    let error = await #expect(throws: CacheError.self) {
      try await writer.commit(trailers: [.eTag: String(repeating: "x", count: most - 2_000)])
    }
    #expect(error?.code == .tooLarge)
    #expect(try store.read(trailers.key).isEmpty)
    #expect(directory.damage.withLock { $0.isEmpty })
  }

  @Test("a part of a body of which the announced length is beyond all bounds is read or refused, no more")
  func hugeLength() async throws {
    for length in [.max, .max - 70_000, 1 << 60] as [Int64] {
      let record = StoreSample.record(StoreSample.key("/\(length)")).storing(
        [0..<200_000], bodyLength: length)
      do { try await store.store(record, StoreSample.body(200_000)) } catch { continue }
      for variant in try store.read(record.key) {
        #expect(try await variant.body.open().readAll() == StoreSample.body(200_000).prefix(3 * 65_508).array)
      }
    }
  }
}
