import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension StoreConformance {
  private static let sizes = [4_000, 900_001]

  // A store that has the first two fifths of a body.
  private static func begun(
    _ body: BodyBytes, of key: CacheKey, in store: any CacheStore
  ) async throws -> CacheRecord {
    let record = StoreSample.record(key)
      .storing([0..<Int64(2 * body.count / 5)], bodyLength: Int64(body.count))
    return try await store.store(record, body.prefix(2 * body.count / 5))
  }

  static let extensionChecks: [StoreCheck] = [
    StoreCheck("A body is completed by what was missing, and replaces part and whole") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        try await store.store(StoreSample.record(key), StoreSample.body(size, seed: 9))
        let part = try await begun(body, of: key, in: store)
        var response = part.response
        response.head.headerFields[.eTag] = "\"newer\""
        let start = 2 * size / 5
        let writer = try await store.extend(part.with(response: response), at: Int64(start))
        try await writer.append(body[start..<start + 10])
        try await writer.append(body.dropFirst(start + 10))
        try requireEqual(writer.bytesWritten, Int64(size - start), "bytes written")
        let stored = try await writer.commit(trailers: [.eTag: "\"late\""])
        try require(stored.isComplete, "the body is not complete")
        try requireEqual(stored.bodyLength, Int64(size), "length")
        response.trailers = [.eTag: "\"late\""]
        try requireEqual(stored.response, response, "response")
        guard let variant = try store.read(key).first else {
          throw StoreViolation(message: "the body is not there", line: #line)
        }
        try requireEqual(variant.record.sequence, stored.sequence, "sequence number")
        let found = try await store.onlyBody(key)
        try require(found == body.array, "the completed body differs")
      }
      await store.flush()
      try requireEqual(entryCount(of: store), sizes.count, "entries in use")
    },
    StoreCheck("A part is added to a part, and what is stored already is passed over") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let part = try await begun(body, of: key, in: store)
        let (first, second, third) = (Int64(2 * size / 5), Int64(3 * size / 5), Int64(4 * size / 5))
        let apart = try await store.extend(part, at: second)
        try await apart.append(body[Int(second)..<Int(third)])
        let two = try await apart.commit(trailers: [:])
        try requireEqual(two.storedRanges, [0..<first, second..<third], "ranges apart")
        try await requirePart([0..<first, second..<third], of: body, at: key, in: store)
        // From before the end of the first part to after the second; the stored bytes arrive with wrong values.
        let over = try await store.extend(two, at: first - 100)
        try await over.append(StoreSample.body(100, seed: 77))
        try await over.append(body[Int(first)..<Int(second)])
        try await over.append(StoreSample.body(Int(third - second), seed: 78))
        try await over.append(body[Int(third)..<Int(third) + 50])
        let kept = try await over.keep()
        try requireEqual(kept?.storedRanges, [0..<third + 50], "ranges joined")
        try await requirePart([0..<third + 50], of: body, at: key, in: store)
      }
    },
    StoreCheck("Readers of what is added to see both, older readers what they opened") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let part = try await begun(body, of: key, in: store)
        let (first, second) = (Int64(2 * size / 5), Int64(3 * size / 5))
        let late = try await store.extend(part, at: second)
        try await late.append(body.dropFirst(Int(second)))
        let two = try await late.commit(trailers: [:])
        guard let older = try store.read(key).first?.body.open() else {
          throw StoreViolation(message: "the part is not there", line: #line)
        }
        let before = [0..<first, second..<Int64(size)]
        try await requireBytes(before, of: body, in: older)
        let writer = try await store.extend(two, at: first)
        let reader = try writer.reader()
        try requireEqual(reader.length, Int64(size), "length")
        try await requireBytes(before, of: body, in: reader)
        let middle = (first + second) / 2
        try await writer.append(body[Int(first)..<Int(middle)])
        try await requireBytes([0..<middle, second..<Int64(size)], of: body, in: reader)
        try await writer.append(body[Int(middle)..<Int(second)])
        try await requireBytes([0..<Int64(size)], of: body, in: reader)
        try await writer.commit(trailers: [:])
        try await requireBytes([0..<Int64(size)], of: body, in: reader)
        try await requireBytes(before, of: body, in: older)
        try await store.remove(.all)
        await store.flush()
        try await requireBytes(before, of: body, in: older)
        try await requireBytes([0..<Int64(size)], of: body, in: reader)
      }
    },
    StoreCheck("Only one adds to a part at a time") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let part = try await begun(body, of: key, in: store)
        let start = 2 * size / 5
        let first = try await store.extend(part, at: Int64(start))
        try await requireUnavailable("a second one") {
          _ = try await store.extend(part, at: Int64(start))
        }
        try await first.append(body[start..<start + 1_000])
        first.abandon()
        try await requirePart([0..<Int64(start)], of: body, at: key, in: store)
        do {
          let dropped = try await store.extend(part, at: Int64(start))
          try await dropped.append(body[start..<start + 1_000])
        }
        let second = try await store.extend(part, at: Int64(start))
        try await second.append(body.dropFirst(start))
        try await second.commit(trailers: [:])
        let found = try await store.onlyBody(key)
        try require(found == body.array, "the completed body differs")
      }
    },
    StoreCheck("What is complete, gone or replaced is not added to") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let whole = try await store.store(StoreSample.record(key), body)
        try await requireUnavailable("a complete one") { _ = try await store.extend(whole, at: 10) }
        try await store.remove(.all)
        for isReplaced in [true, false] {
          let part = try await begun(body, of: key, in: store)
          let start = Int64(2 * size / 5)
          let writer = try await store.extend(part, at: start)
          try await writer.append(body.dropFirst(Int(start)))
          if isReplaced {
            try await store.store(StoreSample.record(key), StoreSample.body(size, seed: 5))
          } else {
            try await store.remove(.key(key))
          }
          try await requireUnavailable("what went in the meantime") {
            try await writer.commit(trailers: [:])
          }
          try await requireUnavailable("what is not there") {
            _ = try await store.extend(part, at: start)
          }
          await store.flush()
          try requireEqual(entryCount(of: store), isReplaced ? 1 : 0, "entries in use")
          try await store.remove(.all)
        }
      }
    },
    StoreCheck("A part grows neither beyond its body nor beyond the largest entry") { makeStore in
      let limit: Int64 = 64 << 10
      let store = try await makeStore(StoreRequirements(largestEntry: .bytes(limit)))
      let body = StoreSample.body(100_000)
      let record = StoreSample.record().storing([0..<1_000], bodyLength: 100_000)
      let part = try await store.store(record, body.prefix(1_000))
      try await requireTooLarge("what comes beyond the largest entry") {
        let writer = try await store.extend(part, at: 1_000)
        for start in stride(from: 1_000, to: 100_000, by: 9_000) {
          try await writer.append(body[start..<start + 9_000])
        }
      }
      try await requireFailure("what comes beyond the body") {
        let writer = try await store.extend(part, at: 99_000)
        try await writer.append(StoreSample.body(1_001))
        try await writer.commit(trailers: [:])
      }
      try await requirePart([0..<1_000], of: body, at: part.key, in: store)
    },
    StoreCheck("What is not of the same length is not added to a part") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let body = StoreSample.body(20_000)
      for length in [20_000, nil] as [Int64?] {
        let record = StoreSample.record().storing([100..<15_000], bodyLength: length)
        let part = try await store.store(record, body[100..<15_000])
        for other in length == nil ? [14_999] : [19_999, 20_001] as [Int64] {
          try await requireUnavailable("a body of \(other) bytes") {
            _ = try await store.extend(
              part.storing([100..<15_000], bodyLength: other), at: 15_000)
          }
        }
        let writer = try await store.extend(
          part.storing(part.storedRanges, bodyLength: 20_000), at: 15_000)
        try await writer.append(body.dropFirst(15_000))
        let stored = try await writer.commit(trailers: [:])
        try requireEqual(stored.bodyLength, 20_000, "length that became known")
        try await requirePart([100..<20_000], of: body, at: part.key, in: store)
      }
      try await requireFailure("a part that is not in the body") {
        let key = StoreSample.key("/beyond")
        let record = StoreSample.record(key).storing([0..<100], bodyLength: 50)
        try await store.store(record, body.prefix(100))
      }
    },
    StoreCheck("The parts of one body are bounded in number") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let body = StoreSample.body(400_000)
      var part = try await store.store(
        StoreSample.record().storing([0..<1], bodyLength: 400_000), body.prefix(1))
      var refused = 0
      for index in 1..<200 as Range<Int64> {
        let start = 2_000 * index
        do {
          let writer = try await store.extend(part, at: start)
          try await writer.append(body[Int(start)..<Int(start) + 10])
          part = try await writer.commit(trailers: [:])
        } catch { refused += 1 }
      }
      let ranges = try store.read(part.key).first?.record.storedRanges ?? []
      try require(!ranges.isEmpty && ranges.count <= 100, "\(ranges.count) ranges are stored")
      try await requirePart(ranges, of: body, at: part.key, in: store)
      let writer = try await store.extend(part, at: 1)
      try await writer.append(body.dropFirst(1))
      try await writer.commit(trailers: [:])
      let found = try await store.onlyBody(part.key)
      try require(found == body.array, "the completed body differs")
    },
  ]

  private static func requireUnavailable(
    _ what: String, line: UInt = #line, _ body: () async throws -> Void
  ) async throws {
    do { try await body() } catch let error as CacheError {
      try requireEqual(error.code, .unavailable, "error of \(what)", line: line)
      return
    }
    throw StoreViolation(message: "\(what) was not refused", line: line)
  }
}
