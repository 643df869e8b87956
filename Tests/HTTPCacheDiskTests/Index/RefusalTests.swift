import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import Testing

/// Refusals in the index.
@Suite(.timeLimit(.minutes(10))) struct RefusalTests {
  private func note(_ path: String, _ index: Int, answer: String = "no") -> RefusalNote {
    RefusalNote(
      key: key(path), time: Timestamp(seconds: Int64(index)), status: 200,
      explanation: CacheExplanation(steps: [
        CacheExplanation.Step("Is it stored?", answer, section: "RFC 9111 §3")
      ]))
  }

  @Test("another process finds a refusal after a flush, and so does a store opened later")
  func shared() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    fixture.store.note(note("/a", 1))
    #expect(try other.refusals(of: key("/a")).isEmpty)
    await fixture.store.flush()
    #expect(try other.refusals(of: key("/a")) == [note("/a", 1)])
    fixture.store.note(note("/a", 2))
    #expect(try fixture.store.refusals(of: key("/a")) == [note("/a", 2), note("/a", 1)])
    #expect(try fixture.other().refusals(of: key("/a")) == [note("/a", 1)])
  }

  @Test("a refusal that is not written yet is forgotten if another process wipes a partition of its class")
  func wiped() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    fixture.store.note(note("/a", 1))
    try await other.wipe(mode: key("/a").mode, partition: key("/a").partition)
    fixture.store.note(note("/b", 2))
    await fixture.store.flush()
    #expect(try other.refusals(of: key("/a")).isEmpty)
    fixture.store.note(note("/a", 3))
    await fixture.store.flush()
    #expect(try other.refusals(of: key("/a")) == [note("/a", 3)])
  }

  @Test("four refusals of a key are kept, and a thousand in all")
  func bounded() async throws {
    let fixture = try Fixture()
    let database = fixture.database
    for index in 0..<10 { fixture.store.note(note("/a", index)) }
    await fixture.store.flush()
    #expect(try fixture.store.refusals(of: key("/a")) == (6..<10).reversed().map { note("/a", $0) })
    #expect(try number("SELECT count(*) FROM refusal", on: database) == 4)
    for index in 0..<1_500 {
      fixture.store.note(note("/b\(index)", index))
      if index % 100 == 0 { await fixture.store.flush() }
    }
    await fixture.store.flush()
    #expect(try number("SELECT count(*) FROM refusal", on: database) == 1_000)
    #expect(try fixture.store.refusals(of: key("/a")).isEmpty)
    #expect(try fixture.store.refusals(of: key("/b1499")).count == 1)
    #expect(try fixture.store.refusals(of: key("/b500")).count == 1)
  }

  @Test("a text that is too long is cut between characters")
  func long() async throws {
    let fixture = try Fixture()
    let text = "x" + String(repeating: "ä", count: 3_000)
    var long = note("/a", 1, answer: text)
    long = RefusalNote(
      key: long.key, time: long.time, status: long.status,
      explanation: CacheExplanation(
        steps: [CacheExplanation.Step](repeating: long.explanation.steps[0], count: 500)))
    fixture.store.note(long)
    await fixture.store.flush()
    let found = try #require(try fixture.store.refusals(of: key("/a")).first)
    #expect(found.explanation.steps.count == 32)
    #expect(found.explanation.steps[0].answer == "x" + String(repeating: "ä", count: 511))
  }

  @Test("rows that cannot be decoded are skipped")
  func hostile() async throws {
    let fixture = try Fixture()
    fixture.store.note(note("/a", 1))
    await fixture.store.flush()
    let database = fixture.database
    for steps in [
      "x''", "x'ff'", "x'ffffffffffffffffff01'", "x'0105ff'", "x'01ffffffffffffffff7f'", "'text'",
      "zeroblob(1000000)", "x'0101ff0000'", "7", "x'010000000000'",
    ] {
      try execute(
        """
        INSERT INTO refusal (hash, time, status, steps)
        SELECT hash, -9223372036854775808, 9223372036854775807, \(steps) FROM refusal WHERE id = 1
        """, on: database)
      #expect(try fixture.store.refusals(of: key("/a")) == [note("/a", 1)], "\(steps)")
      try execute("DELETE FROM refusal WHERE id > 1", on: database)
    }
  }

  @Test("removing everything removes refusals as well")
  func removed() async throws {
    let fixture = try Fixture()
    fixture.store.note(note("/a", 1))
    await fixture.store.flush()
    fixture.store.note(note("/a", 2))
    try await fixture.store.remove(.all)
    #expect(try fixture.store.refusals(of: key("/a")).isEmpty)
  }
}
