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
        100_000..<400_000, size - 10..<size + 10, size..<size + 1, size + 5..<size + 9,
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
      var start = 0
      for piece in [1, 999, 20_000, 300_000, 179_000] {
        try await writer.append(body[start..<start + piece])
        start += piece
        try requireEqual(writer.bytesWritten, Int64(start), "bytes written")
        let found = try await reader.readAll()
        try require(found == body[0..<start].array, "after \(start) bytes others are read")
      }
      try requireEqual(reader.availableRanges, [0..<500_000], "ranges of the growing body")
      try await writer.commit(trailers: [:])
      let after = try await reader.readAll()
      try require(after == body.array, "the growing body's reader lost it at the commit")
    },
  ]
}
