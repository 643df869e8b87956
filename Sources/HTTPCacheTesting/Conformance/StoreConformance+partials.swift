import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension StoreConformance {
  // Bodies that stores keep with their record, and bodies of several blocks.
  private static let sizes = [4_000, 900_001]

  static let partialChecks: [StoreCheck] = [
    StoreCheck("A part of a body is stored at its place, and cut to what came of it") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let folder = try ScratchFolder()
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let (start, end) = (Int64(size / 5), Int64(size / 2))
        for length in [Int64(size), nil] {
          let record = StoreSample.record(key).storing([start..<Int64(size)], bodyLength: length)
          let stored = try await store.store(record, body[Int(start)..<Int(end)])
          try requireEqual(stored.storedRanges, [start..<end], "ranges after the commit")
          try requireEqual(stored.bodyLength, length, "length of the body")
          let reader = try await requirePart([start..<end], of: body, at: key, in: store)
          try requireEqual(reader.length, length, "length of the reader")
          try require(reader.bytesInMemory == nil, "a part passes for the whole")
          try await requireNoClone(of: reader, in: folder)
        }
      }
    },
    StoreCheck("A part in two ranges is written at once") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let body = StoreSample.body(size)
        for start in [0, size / 10] {
          let key = StoreSample.key("/\(size)/\(start)")
          let (end, next, last) = (size / 5, 3 * size / 5, 4 * size / 5)
          let ranges = [Int64(start)..<Int64(end), Int64(next)..<Int64(last)]
          let record = StoreSample.record(key).storing(ranges, bodyLength: Int64(size))
          let bytes = BodyBytes(joining: [body[start..<end], body[next..<last]])
          let stored = try await store.store(record, bytes)
          try requireEqual(stored.storedRanges, ranges, "ranges after the commit")
          try requireEqual(stored.bodyLength, Int64(size), "length of the body")
          let reader = try await requirePart(ranges, of: body, at: key, in: store)
          try requireEqual(reader.length, Int64(size), "length of the reader")
          try require(reader.bytesInMemory == nil && reader.fileRegion == nil, "a part passes for the whole")
          let before = try await reader.read(0..<Int64(start))
          try require(before.isEmpty, "bytes come from before the part")
          let across = try await reader.read(Int64(start)..<Int64(last))
          try require(across.array == body[start..<end].array, "a read goes on after a gap")
        }
      }
    },
    StoreCheck("A part that is the whole is complete, and nothing at all is not stored") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let record = StoreSample.record(key).storing([0..<Int64(size)], bodyLength: Int64(size))
        let stored = try await store.store(record, body)
        try require(stored.isComplete, "the whole body is not complete")
        let found = try await store.onlyBody(key)
        try require(found == body.array, "the whole body is not there")
        let empty = StoreSample.key("/empty")
        let writer = try await store.write(
          StoreSample.record(empty).storing([5..<10], bodyLength: 20), variantLimit: 8)
        try await requireFailure("a part without a byte") { try await writer.commit(trailers: [:]) }
        try require(try store.read(empty).isEmpty, "a part without a byte is stored")
      }
    },
    StoreCheck("What came of a body that breaks off is kept, if it is worth it") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let writer = try await store.write(resumable(key, size), variantLimit: 8)
        try await writer.append(body.prefix(size - 1))
        let kept = try await writer.keep()
        try requireEqual(kept?.storedRanges, [0..<Int64(size - 1)], "ranges that were kept")
        try requireEqual(kept?.bodyLength, Int64(size), "length of the body")
        _ = try await requirePart([0..<Int64(size - 1)], of: body, at: key, in: store)
        try await requireFailure("append after keeping") { try await writer.append(body) }
        try await requireFailure("commit after keeping") {
          try await writer.commit(trailers: [:])
        }
        let empty = try await store.write(
          resumable(StoreSample.key("/empty"), size), variantLimit: 8)
        let nothing = try await empty.keep()
        try require(nothing == nil, "something was kept of nothing")
      }
    },
    StoreCheck("What is not resumable is not kept") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let writer = try await store.write(
          StoreSample.record(bodyLength: Int64(size)), variantLimit: 8)
        try await writer.append(StoreSample.body(size / 2))
        let kept = try await writer.keep()
        try require(kept == nil, "it was kept")
        try require(try store.read(StoreSample.key()).isEmpty, "it is stored")
      }
    },
    StoreCheck("A part never takes the place of the whole, but of an older part") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let (old, new) = (StoreSample.body(size, seed: 1), StoreSample.body(size, seed: 2))
        try await store.store(StoreSample.record(key), old)
        for end in [size / 3, size / 2] {
          let writer = try await store.write(
            resumable(key, size, tag: "\"2\""), variantLimit: 2)
          try await writer.append(new.prefix(end))
          try await writer.keep()
          let variants = try store.read(key)
          try requireEqual(variants.count, 2, "variants")
          let whole = try await variants.first { $0.record.isComplete }?.body.open().readAll()
          try require(whole == old.array, "the whole was changed by a part")
          let part = try await variants.first { !$0.record.isComplete }?.body.open().readAll()
          try require(part == new.prefix(end).array, "the part is not the latest one")
        }
        try await store.store(StoreSample.record(key, tag: "\"3\""), new)
        let found = try await store.onlyBody(key)
        try require(found == new.array, "the new whole did not replace whole and part")
      }
      await store.flush()
      try requireEqual(entryCount(of: store), sizes.count, "entries in use")
    },
    StoreCheck("An abandoned or dropped resumable body leaves the whole and nothing new") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let old = StoreSample.body(700_000, seed: 1)
      try await store.store(StoreSample.record(), old)
      for isDropped in [true, false] {
        let writer = try await store.write(resumable(StoreSample.key(), 700_000), variantLimit: 1)
        try await writer.append(StoreSample.body(600_000, seed: 2))
        let whole = try store.read(StoreSample.key()).first { $0.record.isComplete }
        let found = try await whole?.body.open().readAll()
        try require(found == old.array, "the whole is disturbed by what is being written")
        if !isDropped { writer.abandon() }
      }
      await store.flush()
      await store.flush()
      let found = try await store.onlyBody(StoreSample.key())
      try require(found == old.array, "the whole is gone")
    },
    StoreCheck("A resumable body that arrives is a whole one like any other") { makeStore in
      let store = try await makeStore(StoreRequirements(capacity: 64 << 20))
      for size in [10, 600_000, 5_000_000] {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        try await store.store(
          resumable(key, size), body, piece: max(1, size / 9))
        let found = try await store.onlyBody(key)
        try require(found == body.array, "the body is not there")
      }
      try requireEqual(entryCount(of: store), 3, "entries in use")
    },
    StoreCheck("A part is freshened, invalidated, listed and removed like the whole") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let body = StoreSample.body(size)
        let half = Int64(size / 2)
        let record = StoreSample.record().storing([0..<half], bodyLength: Int64(size))
        let stored = try await store.store(record, body.prefix(Int(half)))
        let invalidated = try await store.invalidate(.key(stored.key))
        try require(invalidated == nil || invalidated == 1, "\(invalidated ?? 0) invalidated")
        let found = try store.read(stored.key).first?.record
        try requireEqual(found?.response.isInvalidated, true, "invalidation")
        // Only an update that has seen the invalidation may take it back.
        let seen = found ?? stored
        var response = stored.response
        response.head.headerFields[.eTag] = "\"fresh\""
        // The update need not know the current state of the store.
        let isUpdated = try await store.update(
          seen.with(response: response, ticket: store.ticket()).storing([0..<1], bodyLength: nil))
        try require(isUpdated, "a part was not freshened")
        let entries = try await store.all()
        try requireEqual(entries.map(\.record.storedRanges), [[0..<half]], "ranges in the listing")
        try requireEqual(entries.first?.record.response, response, "response after the update")
        try require(entries.first?.bodyPath == nil, "a part has a file of its own")
        try require((entries.first?.size ?? 0) >= half, "the part takes less than its bytes")
        _ = try await requirePart([0..<half], of: body, at: stored.key, in: store)
        let removed = try await store.remove(.variant(stored.key, sequence: stored.sequence))
        try requireEqual(removed, 1, "removed")
        try require(try store.read(stored.key).isEmpty, "the part is still there")
        await store.flush()
        try requireEqual(entryCount(of: store), 0, "entries in use")
      }
    },
  ]

  static func resumable(_ key: CacheKey, _ length: Int, tag: String = "\"1\"") -> CacheRecord {
    CacheRecord(
      key: key, response: StoreSample.response(tag: tag), bodyLength: Int64(length),
      isResumable: true)
  }

  // The only variant of a key has just these ranges of a body, byte for byte.
  @discardableResult
  static func requirePart(
    _ ranges: [Range<Int64>], of body: BodyBytes, at key: CacheKey, in store: any CacheStore,
    line: UInt = #line
  ) async throws -> any BodyReader {
    let variants = try store.read(key)
    try requireEqual(variants.map(\.record.storedRanges), [ranges], "stored ranges", line: line)
    guard let reader = try variants.first?.body.open() else {
      throw StoreViolation(message: "the part is not there", line: line)
    }
    try await requireBytes(ranges, of: body, in: reader, line: line)
    return reader
  }

  static func requireBytes(
    _ ranges: [Range<Int64>], of body: BodyBytes, in reader: any BodyReader, line: UInt = #line
  ) async throws {
    try requireEqual(reader.availableRanges, ranges, "ranges of the reader", line: line)
    for range in ranges {
      let middle = (range.lowerBound + range.upperBound) / 2
      for lower in [range.lowerBound, middle, range.upperBound - 1] {
        // The request exceeds the stored range: the answer ends where the range ends.
        let found = try await reader.read(lower..<range.upperBound + 10)
        let expected = body[Int(lower)..<Int(range.upperBound)]
        try require(found.array == expected.array, "bytes from \(lower) on differ", line: line)
      }
      let isHole = !ranges.contains { $0.contains(range.upperBound) }
      let beyond = try await reader.read(range.upperBound..<range.upperBound + 5)
      try require(!isHole || beyond.isEmpty, "bytes come from where none are", line: line)
    }
  }
}
