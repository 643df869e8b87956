import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Memory counts what is coming in", .timeLimit(.minutes(5)))
struct MemoryInProgressTests {
  private static let capacity: Int64 = 8 << 20

  @Test(
    "many misses at once take the capacity and a window for each, and all callers get their bodies",
    arguments: [true, false])
  func many(isAnnounced: Bool) async throws {
    let (count, size) = (40, 3 << 20)
    let test = TestCache(store: MemoryStore(capacity: Self.capacity, largestEntry: .share(0.5)))
    let held = CountedBody.Held()
    test.origin.streams([.cacheControl: "max-age=60"]) { _ in
      CountedBody(count: size, isAnnounced: isAnnounced, held: held)
    }
    var peak: Int64 = 0
    try await withThrowingTaskGroup(of: (received: Int, peak: Int64).self) { group in
      for index in 0..<count {
        group.addTask {
          let response = try await test.respond("/\(index)")
          var (received, peak): (Int, Int64) = (0, 0)
          for try await bytes in response.body {
            received += bytes.count
            peak = max(peak, test.cache.store.usage.memoryBytes)
          }
          return (received, peak)
        }
      }
      for try await result in group {
        #expect(result.received == size)
        peak = max(peak, result.peak)
      }
    }
    #expect(peak <= Self.capacity + (1 << 20))
    // Each transfer runs a window ahead of its reader, and holds a window and a piece for it.
    #expect(held.peak <= count * (2 << 20))
    #expect(test.cache.store.usage.memoryEntries >= 1)
    let refused = test.events.count { if case .notStored(_, .notAdmitted) = $0 { true } else { false } }
    #expect(refused > 0)
    #expect(test.events.count { if case .storeFailed = $0 { true } else { false } } == 0)
  }
}
