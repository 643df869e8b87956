import HTTPCacheDisk
import HTTPCacheStore
import Testing

@Suite(.timeLimit(.minutes(10))) struct LockOutTests {
  @Test(
    "while another process holds the write lock, many writers wait together, not one after the other")
  func together() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/before"), [1])
    let held = try HeldDatabase(fixture.database)
    let count = 40
    // If each waited two seconds after the other, this would take 80 seconds.
    let time = try await ContinuousClock().measure {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<count {
          group.addTask {
            let new = try record("/\(index)")
            await #expect { try await fixture.store.put(new, [2]) } throws: { error in
              (error as? CacheError)?.code == .busy
            }
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(time < .seconds(75))
    #expect(try await fixture.store.body(key("/before")) == [1], "reading goes on")
    held.release()
    for index in 0..<count { try await fixture.store.put(try record("/\(index)"), [3]) }
    #expect(fixture.store.usage.diskEntries == count + 1)
  }
}
