import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("StoreConformance finds stores that do not conform")
struct StoreConformanceTests {
  private func failing(_ fault: BrokenStore.Fault) async -> [String] {
    var names: [String] = []
    for check in StoreConformance.checks {
      do {
        try await check.run { requirements in
          BrokenStore(
            MemoryStore(
              capacity: requirements.capacity, largestEntry: requirements.largestEntry,
              clock: requirements.clock), fault: fault)
        }
      } catch { names.append(check.name) }
    }
    return names
  }

  @Test("finds no fault where there is none")
  func none() async { #expect(await failing(.none) == []) }

  @Test("finds every fault", arguments: BrokenStore.Fault.allCases.filter { $0 != .none })
  func finds(_ fault: BrokenStore.Fault) async {
    let names = await failing(fault)
    #expect(names.contains { $0.contains(fault.expected) }, "found by \(names)")
  }
}
