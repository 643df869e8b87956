import HTTPCacheSemantics
import HTTPCacheStore

extension StoreConformance {
  static let refusalChecks: [StoreCheck] = [
    StoreCheck("Why a response was not stored is remembered, the latest first") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let key = StoreSample.key()
      try require(try store.refusals(of: key).isEmpty, "there are refusals from the start")
      for index in 0..<3 {
        store.note(refusal(of: key, index))
        store.note(refusal(of: StoreSample.key("/other"), index + 10))
      }
      for isFlushed in [false, true] {
        if isFlushed { await store.flush() }
        let found = try store.refusals(of: key)
        try requireEqual(found, (0..<3).reversed().map { refusal(of: key, $0) }, "refusals")
      }
      try require(
        try store.refusals(of: StoreSample.key("/none")).isEmpty, "another key has refusals")
      for index in 3..<500 { store.note(refusal(of: key, index)) }
      await store.flush()
      let found = try store.refusals(of: key)
      try requireEqual(found.first, refusal(of: key, 499), "the latest refusal")
      try require(found.count <= 300, "\(found.count) refusals are kept")
    }
  ]

  private static func refusal(of key: CacheKey, _ index: Int) -> RefusalNote {
    RefusalNote(
      key: key, time: StoreSample.start.adding(Int64(index)), status: 200 + index,
      explanation: CacheExplanation(steps: [
        CacheExplanation.Step("Is it stored?", "no: \(index)", section: "RFC 9111 §3"),
        CacheExplanation.Step("ä", "", section: ""),
      ]))
  }
}
