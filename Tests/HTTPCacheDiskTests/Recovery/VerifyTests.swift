import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct VerifyTests {
  @Test("each fault is reported, and repaired if requested")
  func repair() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    let database = fixture.database
    for index in 0..<4 { try await store.put(try record("/large\(index)"), bytes(600_000)) }
    for index in 0..<4 { try await store.put(try record("/small\(index)"), [1, 2, 3]) }
    #expect(try await store.verify(repair: false).isSound)

    let page = try await store.entries(.all, after: nil, limit: 10)
    let paths = page.entries.compactMap(\.bodyPath)
    try #require(paths.count == 4)
    try FileManager.default.removeItem(atPath: paths[0])
    try overwrite(paths[1], at: 300_000, with: [UInt8](repeating: 0, count: 16))
    try #require(FileHandle(forWritingAtPath: paths[2])).truncate(atOffset: 10)
    try execute("UPDATE entry SET record = x'00' WHERE target LIKE '%small0'", on: database)
    try execute("UPDATE entry SET body = x'01' WHERE target LIKE '%small1'", on: database)
    try execute("INSERT INTO block VALUES (999999, 0, x'00')", on: database)
    try execute("UPDATE state SET entries = 77, bodies = 5", on: database)
    let orphan = fixture.directory.path("cache/bodies/00000000000000aa-7")
    try Data(count: 5).write(to: URL(fileURLWithPath: orphan))
    let foreign = fixture.directory.path("cache/bodies/README")
    try Data(count: 5).write(to: URL(fileURLWithPath: foreign))

    let found = try await store.verify(repair: false)
    #expect(found.entries == 8)
    #expect(!found.isRepaired)
    let repaired = try await store.verify(repair: true)
    #expect(repaired.isRepaired)
    for report in [found, repaired] {
      let text = report.description
      for part in [
        "large0: body", "large1: block 1", "large2: body has 10 bytes", "small1: the body",
        "record:", "1 rows of block", "bodies/00000000000000aa-7 belongs to no entry",
        "usage says",
      ] {
        #expect(text.contains(part), "\(part) in \(text)")
      }
      #expect(!text.contains("large3"))
      #expect(!text.contains("README"))
    }
    let after = try await store.verify(repair: false)
    #expect(after.isSound, "\(after)")
    #expect(after.entries == 3)
    #expect(store.usage.diskEntries == 3)
    #expect(!FileManager.default.fileExists(atPath: orphan))
    #expect(FileManager.default.fileExists(atPath: foreign), "what is not ours stays")
    #expect(try await store.body(key("/large3")) == bytes(600_000))
  }
}
