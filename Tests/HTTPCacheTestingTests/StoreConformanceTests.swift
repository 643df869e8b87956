import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("StoreConformance finds stores that do not conform", .timeLimit(.minutes(10)))
struct StoreConformanceTests {
  private func failing(_ fault: BrokenStore.Fault) async -> [String] {
    var names: [String] = []
    for check in StoreConformance.checks where fault.expected.map({ check.name.contains($0) }) ?? true {
      do {
        try await check.run { requirements in
          try BrokenStore(
            MemoryStore(
              capacity: requirements.capacity, largestEntry: requirements.largestEntry,
              clock: requirements.clock), fault: fault)
        }
      } catch { names.append("\(check.name): \(error)") }
    }
    return names
  }

  @Test("finds no fault where there is none", arguments: [BrokenStore.Fault.none, .keepsFiles])
  func none(_ fault: BrokenStore.Fault) async { #expect(await failing(fault) == []) }

  @Test("finds every fault", arguments: BrokenStore.Fault.allCases.filter { $0.expected != nil })
  func finds(_ fault: BrokenStore.Fault) async {
    let names = await failing(fault)
    #expect(!names.isEmpty)
    // By what the store did, not by an error of its own.
    #expect(!names.contains { $0.contains("CacheError") }, "\(names)")
  }
}
