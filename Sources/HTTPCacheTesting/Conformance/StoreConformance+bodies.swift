import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension StoreConformance {
  private static let sizes = [
    0, 1, 16_383, 16_384, 16_385, 262_143, 262_144, 262_145, 1_048_579,
  ]

  static let bodyChecks: [StoreCheck] = [
    StoreCheck("Bodies of all sizes are read back byte for byte") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        for isAnnounced in [true, false] {
          let key = StoreSample.key("/\(size)-\(isAnnounced)")
          let body = StoreSample.body(size, seed: UInt64(size) + 1)
          let record = StoreSample.record(key, bodyLength: isAnnounced ? Int64(size) : nil)
          let stored = try await store.store(record, body)
          try requireEqual(stored.bodyLength, Int64(size), "length after commit")
          guard let variant = try store.read(key).first else {
            throw StoreViolation(message: "a body of \(size) bytes is not there", line: #line)
          }
          try requireEqual(variant.record.bodyLength, Int64(size), "length in the record")
          let reader = try variant.body.open()
          try requireEqual(reader.length, Int64(size), "length of the reader")
          let ranges = size == 0 ? [] : [0..<Int64(size)]
          try requireEqual(reader.availableRanges.filter { !$0.isEmpty }, ranges, "ranges")
          let bytes = try await reader.readAll()
          try require(bytes == body.array, "a body of \(size) bytes came back different")
          if let inMemory = reader.bytesInMemory {
            try require(inMemory.array == bytes, "bytesInMemory differs from what is read")
          }
        }
      }
    },
    StoreCheck("Any range of a body can be read") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let size: Int64 = 600_000
      let body = StoreSample.body(Int(size))
      try await store.store(StoreSample.record(), body)
      guard let reader = try store.read(StoreSample.key()).first?.body.open() else {
        throw StoreViolation(message: "the body is not there", line: #line)
      }
      let ranges: [Range<Int64>] = [
        0..<1, 0..<size, size - 1..<size, 262_143..<262_145, 262_144..<524_288, 5..<5,
        1..<65_536, 1..<size, 65_536..<262_143, 262_145..<size, 524_288..<size, 100_000..<400_000,
        size - 10..<size + 10, size..<size + 1, size + 5..<size + 9,
      ]
      for range in ranges {
        let expected = range.clamped(to: 0..<size)
        let found = try await reader.read(range)
        let wanted = body[Int(expected.lowerBound)..<Int(expected.upperBound)]
        try require(found.array == wanted.array, "bytes \(range) came back different")
      }
    },
    StoreCheck("A reader survives the removal and the replacement of its entry") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in [1_000, 300_000] {
        let key = StoreSample.key("/\(size)")
        let old = StoreSample.body(size, seed: 1)
        try await store.store(StoreSample.record(key), old)
        guard let reader = try store.read(key).first?.body.open() else {
          throw StoreViolation(message: "the body is not there", line: #line)
        }
        try await store.store(StoreSample.record(key), StoreSample.body(size, seed: 2))
        let afterReplacement = try await reader.readAll()
        try require(afterReplacement == old.array, "an open body changed when it was replaced")
        try await store.remove(.all)
        await store.flush()
        let afterRemoval = try await reader.readAll()
        try require(afterRemoval == old.array, "an open body changed when it was removed")
      }
    },
    StoreCheck("A growing body can be read before it is committed") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let body = StoreSample.body(500_000)
      let writer = try await store.write(StoreSample.record(), variantLimit: 8)
      let reader = try writer.reader()
      let nothing = try await reader.read(0..<10)
      try require(nothing.isEmpty, "bytes are read that were not written")
      try requireEqual(reader.availableRanges.filter { !$0.isEmpty }, [], "ranges before the first byte")
      var start = 0
      for piece in [1, 999, 20_000, 300_000, 179_000] {
        try await writer.append(body[start..<start + piece])
        start += piece
        try requireEqual(writer.bytesWritten, Int64(start), "bytes written")
        try requireEqual(reader.availableRanges, [0..<Int64(start)], "ranges of the growing body")
        let found = try await reader.readAll()
        try require(found == body[0..<start].array, "after \(start) bytes others are read")
      }
      try requireEqual(reader.length, nil, "length before the commit")
      try await writer.commit(trailers: [:])
      try requireEqual(reader.length, 500_000, "length after the commit")
      let after = try await reader.readAll()
      try require(after == body.array, "the growing body's reader lost it at the commit")
    },
  ]
}

extension StoreConformance {
  static let writerChecks: [StoreCheck] = [
    StoreCheck("Nothing is visible before the commit, and everything after it") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let body = StoreSample.body(100_000)
      let writer = try await store.write(StoreSample.record(), variantLimit: 8)
      try await writer.append(body)
      try requireEqual(completeVariants(in: store), 0, "complete variants before the commit")
      try await writer.commit(trailers: [:])
      let found = try await store.onlyBody(StoreSample.key())
      try require(found == body.array, "the committed body is not there")
    },
    StoreCheck("An abandoned writer leaves nothing that passes for a response") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let writer = try await store.write(StoreSample.record(), variantLimit: 8)
      try await writer.append(StoreSample.body(100_000))
      let reader = try writer.reader()
      writer.abandon()
      writer.abandon()
      try requireEqual(completeVariants(in: store), 0, "complete variants")
      try await requireFailure("commit after abandon") {
        try await writer.commit(trailers: [:])
      }
      try requireEqual(completeVariants(in: store), 0, "complete variants after that commit")
      let rest = try await reader.readAll()
      try require(
        rest == StoreSample.body(100_000).array, "the reader of an abandoned body lost bytes")
      try requireEqual(reader.length, nil, "length of an abandoned body")
    },
    StoreCheck("A dropped writer leaves nothing that passes for a response") { makeStore in
      let store = try await makeStore(StoreRequirements())
      do {
        let writer = try await store.write(StoreSample.record(), variantLimit: 8)
        try await writer.append(StoreSample.body(100_000))
      }
      await store.flush()
      try requireEqual(completeVariants(in: store), 0, "complete variants")
    },
    StoreCheck("An abandoned writer leaves the response it was to replace") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let old = StoreSample.body(50_000, seed: 1)
      try await store.store(StoreSample.record(), old)
      let writer = try await store.write(StoreSample.record(tag: "\"2\""), variantLimit: 8)
      try await writer.append(StoreSample.body(50_000, seed: 2))
      writer.abandon()
      let variants = try store.read(StoreSample.key()).filter { $0.record.isComplete }
      try requireEqual(variants.count, 1, "complete variants")
      let found = try await variants.first?.body.open().readAll()
      try require(found == old.array, "the old body changed")
    },
    StoreCheck("A writer takes nothing after its commit") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let body = StoreSample.body(1_000)
      let writer = try await store.write(StoreSample.record(), variantLimit: 8)
      try await writer.append(body)
      try await writer.commit(trailers: [:])
      try await requireFailure("append after commit") { try await writer.append(body) }
      writer.abandon()
      let found = try await store.onlyBody(StoreSample.key())
      try require(found == body.array, "the committed body changed")
    },
    StoreCheck("A body that is not as long as announced is not committed") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for (announced, sent) in [(50_000, 49_999), (50_000, 10), (100, 99), (99, 100)] {
        let key = StoreSample.key("/\(announced)/\(sent)")
        let record = StoreSample.record(key, bodyLength: Int64(announced))
        let writer = try await store.write(record, variantLimit: 8)
        try await requireFailure("commit of \(sent) bytes, of which \(announced) were announced") {
          try await writer.append(StoreSample.body(sent))
          try await writer.commit(trailers: [:])
        }
        try requireEqual(completeVariants(in: store, key), 0, "complete variants")
      }
    },
    StoreCheck("A body above the largest entry is refused as too large") { makeStore in
      let limit: Int64 = 64 << 10
      let store = try await makeStore(StoreRequirements(largestEntry: .bytes(limit)))
      try await requireTooLarge("an announced body") {
        let record = StoreSample.record(bodyLength: limit + 1)
        let writer = try await store.write(record, variantLimit: 8)
        try await writer.append(StoreSample.body(Int(limit) + 1))
        try await writer.commit(trailers: [:])
      }
      try await requireTooLarge("a body of unknown length") {
        let writer = try await store.write(StoreSample.record(), variantLimit: 8)
        for _ in 0..<70 { try await writer.append(StoreSample.body(1 << 10)) }
        try await writer.commit(trailers: [:])
      }
      try requireEqual(completeVariants(in: store), 0, "complete variants")
      try await store.store(StoreSample.record(), StoreSample.body(Int(limit)))
      try requireEqual(completeVariants(in: store), 1, "variants of the largest size")
    },
    StoreCheck("After a failed append, what came before can still be read") { makeStore in
      let store = try await makeStore(StoreRequirements(largestEntry: .bytes(64 << 10)))
      let body = StoreSample.body(60_000)
      let writer = try await store.write(StoreSample.record(), variantLimit: 8)
      try await writer.append(body)
      let reader = try writer.reader()
      try await requireTooLarge("the append") { try await writer.append(body) }
      try await requireFailure("another append") {
        try await writer.append(StoreSample.body(1))
      }
      try await requireFailure("the commit") { try await writer.commit(trailers: [:]) }
      let found = try await reader.readAll()
      try require(found == body.array, "what was appended before the failure is not there")
    },
  ]

  static func completeVariants(
    in store: any CacheStore, _ key: CacheKey = StoreSample.key()
  ) throws(CacheError) -> Int {
    try store.read(key).count { $0.record.isComplete }
  }

  static func requireFailure(
    _ what: String, line: UInt = #line, _ body: () async throws -> Void
  ) async throws {
    do { try await body() } catch is CacheError { return }
    throw StoreViolation(message: "\(what) did not fail", line: line)
  }

  static func requireTooLarge(
    _ what: String, line: UInt = #line, _ body: () async throws -> Void
  ) async throws {
    do { try await body() } catch let error as CacheError {
      try requireEqual(error.code, .tooLarge, "error of \(what)", line: line)
      return
    }
    throw StoreViolation(message: "\(what) was not refused", line: line)
  }
}
