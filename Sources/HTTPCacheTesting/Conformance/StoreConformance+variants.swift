import HTTPCacheSemantics
import HTTPCacheStore

extension StoreConformance {
  static let variantChecks: [StoreCheck] = [
    StoreCheck("A response with equal nominated fields replaces the old one") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for seed in 1...3 as ClosedRange<UInt64> {
        let body = StoreSample.body(40_000, seed: seed)
        try await store.store(StoreSample.record(language: "de", tag: "\"\(seed)\""), body)
        let found = try await store.onlyBody(StoreSample.key())
        try require(found == body.array, "the body is not the latest one")
      }
      await store.flush()
      try requireEqual(entryCount(of: store), 1, "entries in use")
    },
    StoreCheck("Variants are told apart and come back most recent first") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let languages = ["de", "en", "fr"]
      for (index, language) in languages.enumerated() {
        try await store.store(
          StoreSample.record(language: language), StoreSample.body(1_000, seed: UInt64(index)))
      }
      let variants = try store.read(StoreSample.key())
      try requireEqual(variants.map { language(of: $0.record) }, ["fr", "en", "de"], "variants")
      for (index, variant) in variants.reversed().enumerated() {
        let bytes = try await variant.body.open().readAll()
        let expected = StoreSample.body(1_000, seed: UInt64(index)).array
        try require(bytes == expected, "a variant has the body of another one")
      }
    },
    StoreCheck("The oldest variants go beyond the limit") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for language in ["de", "en", "fr", "it"] {
        try await store.store(
          StoreSample.record(language: language), StoreSample.body(100), variantLimit: 2)
      }
      let variants = try store.read(StoreSample.key())
      try requireEqual(variants.map { language(of: $0.record) }, ["it", "fr"], "variants")
      await store.flush()
      try requireEqual(entryCount(of: store), 2, "entries in use")
    },
    StoreCheck("A variant that is replaced comes first") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for (seed, language) in ["de", "en", "fr", "en"].enumerated() {
        try await store.store(
          StoreSample.record(language: language), StoreSample.body(100, seed: UInt64(seed)), variantLimit: 2)
      }
      let variants = try store.read(StoreSample.key())
      try requireEqual(variants.map { language(of: $0.record) }, ["en", "fr"], "variants")
      let bytes = try await variants.first?.body.open().readAll()
      try require(bytes == StoreSample.body(100, seed: 3).array, "the body is not the latest one")
      await store.flush()
      try requireEqual(entryCount(of: store), 2, "entries in use")
    },
    StoreCheck("Modes and partitions do not see each other") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let keys = [
        StoreSample.key("/"), StoreSample.key("/", mode: .shared),
        StoreSample.key("/", partition: "a"), StoreSample.key("/", partition: "b"),
        StoreSample.key("/", mode: .shared, partition: "a"),
        CacheKey(
          mode: .private, methodClass: .query, target: "https://example.com/",
          contentDigest: [1]),
      ]
      for (index, key) in keys.enumerated() {
        for other in keys[index...] {
          try requireEqual(completeVariants(in: store, other), 0, "variants before storing")
        }
        try await store.store(
          StoreSample.record(key), StoreSample.body(500, seed: UInt64(index)))
      }
      for (index, key) in keys.enumerated() {
        let found = try await store.onlyBody(key)
        let expected = StoreSample.body(500, seed: UInt64(index)).array
        try require(found == expected, "key \(index) has the body of another one")
      }
    },
    StoreCheck("A look into memory never contradicts what is stored") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let key = StoreSample.key()
      try require(store.peek(key)?.isEmpty != false, "something is found in an empty store")
      for language in ["de", "en"] {
        try await store.store(StoreSample.record(language: language), StoreSample.body(100))
        for _ in 0..<2 {
          let inMemory = store.peek(key)
          let stored = try store.read(key).map(\.record.sequence)
          if let inMemory { try requireEqual(inMemory.map(\.record.sequence), stored, "variants in memory") }
        }
      }
      try await store.remove(.key(key))
      try require(store.peek(key)?.isEmpty != false, "what was removed is still in memory")
    },
  ]

  static func entryCount(of store: any CacheStore) -> Int {
    let usage = store.usage
    return max(usage.memoryEntries, usage.diskEntries)
  }

  static func language(of record: CacheRecord) -> String? {
    guard case .text(let text) = record.response.nominated.first?.value else { return nil }
    return text
  }
}

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
