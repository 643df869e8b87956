import HTTPCacheSemantics
import HTTPCacheStore

extension StoreConformance {
  static let oneVariantChecks: [StoreCheck] = [
    StoreCheck("Of one variant no other is listed, invalidated or removed") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let key = StoreSample.key()
      let languages = ["de", "en", "fr"]
      var sequences: [UInt64] = []
      for (index, language) in languages.enumerated() {
        let body = StoreSample.body(1_000, seed: UInt64(index))
        let stored = try await store.store(StoreSample.record(language: language), body)
        sequences.append(stored.sequence)
      }
      try requireEqual(Set(sequences).count, 3, "different sequence numbers")
      let selection = CacheSelection.variant(key, sequence: sequences[1])
      let listed = try await store.all(selection).map { language(of: $0.record) }
      try requireEqual(listed, ["en"], "listed")
      let invalidated = try await store.invalidate(selection)
      try require(invalidated == nil || invalidated == 1, "\(invalidated ?? 0) invalidated")
      for variant in try store.read(key) {
        let found = language(of: variant.record)
        try requireEqual(
          variant.record.response.isInvalidated, found == "en", "invalidation of \(found ?? "")")
      }
      let removed = try await store.remove(selection)
      try requireEqual(removed, 1, "removed")
      let left = try store.read(key)
      try requireEqual(left.map { language(of: $0.record) }, ["fr", "de"], "variants left")
      for (variant, seed) in zip(left, [2, 0] as [UInt64]) {
        let bytes = try await variant.body.open().readAll()
        try require(
          bytes == StoreSample.body(1_000, seed: seed).array, "another variant's body changed")
      }
    },
    StoreCheck("A variant that was replaced or is of another key is not selected") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let key = StoreSample.key()
      let old = try await store.store(StoreSample.record(), StoreSample.body(100))
      let new = try await store.store(StoreSample.record(tag: "\"2\""), StoreSample.body(100))
      let selections: [CacheSelection] = [
        .variant(key, sequence: old.sequence), .variant(key, sequence: new.sequence &+ 1_000),
        .variant(StoreSample.key("/none"), sequence: new.sequence),
      ]
      for selection in selections {
        let listed = try await store.all(selection)
        try requireEqual(listed.count, 0, "listed of \(selection)")
        let invalidated = try await store.invalidate(selection)
        try require(invalidated == nil || invalidated == 0, "\(invalidated ?? 0) invalidated of \(selection)")
        let removed = try await store.remove(selection)
        try requireEqual(removed, 0, "removed of \(selection)")
      }
      let found = try store.read(key).first?.record.response
      try requireEqual(found, new.response, "response")
    },
  ]
}
