import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension StoreConformance {
  private static let sizes = [0, 10, 16_385, 700_001]

  static let fileChecks: [StoreCheck] = [
    StoreCheck("A clone is the whole body in a file of its own") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let folder = try ScratchFolder()
      for size in sizes {
        let (key, body, growing) = try await storeRead(size, in: store)
        for isStored in [true, false] {
          let reader = isStored ? try storedReader(store, key) : growing
          let file = folder.file("\(size)-\(isStored)")
          try await reader.clone(to: file.path)
          try require(file.bytes == body.array, "the clone of \(size) bytes differs")
          file.write([UInt8](repeating: 0, count: size))
          let after = try await reader.readAll()
          try require(after == body.array, "the body changed with its clone")
          let stored = try await store.onlyBody(key)
          try require(stored == body.array, "the stored body changed with its clone")
        }
        let reader = try storedReader(store, key)
        try await store.remove(.key(key))
        await store.flush()
        let late = folder.file("\(size)-late")
        try await reader.clone(to: late.path)
        try require(late.bytes == body.array, "the clone of a removed body differs")
      }
    },
    StoreCheck("Of a body that grows no clone is made") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let folder = try ScratchFolder()
      for size in sizes where size > 0 {
        let body = StoreSample.body(size)
        let key = StoreSample.key("/\(size)")
        for isAnnounced in [true, false] {
          let record = StoreSample.record(key, bodyLength: isAnnounced ? Int64(size) : nil)
          let writer = try await store.write(record, variantLimit: 8)
          try await writer.append(body.prefix(size / 2))
          let reader = try writer.reader()
          try await requireNoClone(of: reader, in: folder)
          writer.abandon()
          try await requireNoClone(of: reader, in: folder)
        }
      }
    },
    StoreCheck("A clone is not written over what is there") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let folder = try ScratchFolder()
      let file = folder.file("there")
      file.write([1, 2, 3])
      for size in sizes {
        let key = StoreSample.key("/\(size)")
        try await store.store(StoreSample.record(key), StoreSample.body(size))
        let reader = try storedReader(store, key)
        try await requireFailure("a clone over a file") { try await reader.clone(to: file.path) }
        try requireEqual(file.bytes, [1, 2, 3], "the file that was there")
        try await requireFailure("a clone into no folder") {
          try await reader.clone(to: folder.file("none/clone").path)
        }
        try requireEqual(folder.names, ["there"], "files after failed clones")
      }
    },
    StoreCheck("The path of an entry leads to just its body") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for (index, size) in sizes.enumerated() {
        let key = StoreSample.key("/\(size)")
        for language in ["de", "en", "de"] {
          let seed = UInt64(10 * index + (language == "de" ? 1 : 2))
          let record = StoreSample.record(key, language: language, tag: "\"\(seed)\"")
          let stored = try await store.store(record, StoreSample.body(size, seed: seed))
          try await store.update(stored.with(userInfo: [1]))
        }
      }
      for isFlushed in [false, true] {
        if isFlushed { await store.flush() }
        let entries = try await store.all()
        try requireEqual(entries.count, 2 * sizes.count, "entries")
        for entry in entries {
          guard let path = entry.bodyPath else { continue }
          let body = StoreSample.body(
            Int(entry.record.bodyLength ?? 0), seed: try seed(of: entry.record))
          try require(ScratchFile(path).bytes == body.array, "\(path) is not the entry's body")
        }
      }
    },
    StoreCheck("What lies in a file is the body, and what can be read passes for verified") {
      makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes {
        let (key, body, growing) = try await storeRead(size, in: store)
        for reader in [growing, try storedReader(store, key)] {
          try await requireRegion(of: reader, body)
          _ = try await reader.readAll()
          try await requireRegion(of: reader, body)
        }
        try await requireRegion(of: try storedReader(store, key), body)
      }
    },
    StoreCheck("What was damaged in its file is neither verified nor read") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in sizes where size > 0 {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        try await store.store(StoreSample.record(key), body)
        await store.flush()
        let open = try storedReader(store, key)
        _ = try await open.readAll()
        guard let path = try await store.all(.key(key)).first?.bodyPath,
          ScratchFile(path).damage(at: Int64(size / 2))
        else { continue }
        try requireVerified(0..<Int64(size), of: body, in: open)
        let later: any BodyReader
        let bytes: [UInt8]
        do {
          guard let variant = try store.read(key).first else { continue }
          later = try variant.body.open()
          try requireVerified(0..<Int64(size), of: body, in: later)
          bytes = try await later.readAll()
        } catch is CacheError { continue }
        try require(bytes == body.array, "damaged bytes are read")
        try requireVerified(0..<Int64(size), of: body, in: later)
      }
    },
  ]

  /// Stores a body of `count` bytes, with a reader that was opened before the first byte.
  private static func storeRead(
    _ size: Int, in store: any CacheStore
  ) async throws -> (key: CacheKey, body: BodyBytes, growing: any BodyReader) {
    let key = StoreSample.key("/\(size)")
    let body = StoreSample.body(size, seed: UInt64(size) + 1)
    let writer = try await store.write(StoreSample.record(key), variantLimit: 8)
    let growing = try writer.reader()
    if size > 0 { try await writer.append(body) }
    try await writer.commit(trailers: [:])
    return (key, body, growing)
  }

  private static func storedReader(
    _ store: any CacheStore, _ key: CacheKey, line: UInt = #line
  ) throws -> any BodyReader {
    guard let variant = try store.read(key).first else {
      throw StoreViolation(message: "the body is not there", line: line)
    }
    return try variant.body.open()
  }

  /// An incomplete body cannot be cloned.
  static func requireNoClone(
    of reader: any BodyReader, in folder: ScratchFolder, line: UInt = #line
  ) async throws {
    let before = folder.names
    try await requireFailure("a clone of half a body", line: line) {
      try await reader.clone(to: folder.file("half").path)
    }
    try requireEqual(folder.names, before, "files after a failed clone", line: line)
  }

  private static func requireRegion(
    of reader: any BodyReader, _ body: BodyBytes, line: UInt = #line
  ) async throws {
    let size = Int64(body.count)
    if let region = reader.fileRegion {
      try requireEqual(region.count, size, "bytes of the file region", line: line)
      try require(region.offset >= 0, "the file region starts at \(region.offset)", line: line)
      let bytes = ScratchFile.bytes(
        of: region.descriptor, at: region.offset, count: body.count)
      try require(bytes == body.array, "the file region is not the body", line: line)
      try require(
        !region.isVerified || size == 0 || reader.isVerified(0..<size),
        "the whole file region is verified, but its bytes are not", line: line)
    }
    let ranges = [
      0..<1, 0..<size, size / 2..<size, max(0, size - 1)..<size, 0..<size + 1, size..<size + 10,
    ]
    for range in ranges where !range.isEmpty {
      guard try requireVerified(range, of: body, in: reader, line: line) else { continue }
      let bytes = try await reader.read(range)
      let expected = body[Int(range.lowerBound)..<Int(range.upperBound)]
      try require(bytes.array == expected.array, "verified bytes are read otherwise", line: line)
    }
  }

  // Verified bytes must be the stored bytes.
  @discardableResult
  private static func requireVerified(
    _ range: Range<Int64>, of body: BodyBytes, in reader: any BodyReader, line: UInt = #line
  ) throws(StoreViolation) -> Bool {
    guard reader.isVerified(range) else { return false }
    guard range.upperBound <= Int64(body.count) else {
      throw StoreViolation(message: "bytes beyond the end pass for verified", line: line)
    }
    guard let region = reader.fileRegion else {
      throw StoreViolation(message: "bytes that are in no file pass for verified", line: line)
    }
    let bytes = ScratchFile.bytes(
      of: region.descriptor, at: region.offset + range.lowerBound, count: range.count)
    let expected = body[Int(range.lowerBound)..<Int(range.upperBound)]
    try require(bytes == expected.array, "other bytes pass for verified", line: line)
    return true
  }
}
