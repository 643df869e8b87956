import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Two stores on one directory, like two processes, write, extend, abandon, remove and read a few common bodies
/// at the same time.
@Suite(.timeLimit(.minutes(10))) struct PartialStressTests {
  // The numbers are equal in each run.
  private static let bodies = (0..<4).map { bytes(9_000 + 350_000 * $0, seed: UInt64($0 + 1)) }

  @Test("concurrent work never reads wrong bytes and leaves no files")
  func stress() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<6 {
        group.addTask {
          let store = worker % 2 == 0 ? fixture.store : other
          var numbers = SeededGenerator(seed: UInt64(worker + 1))
          for _ in 0..<80 {
            let index = Int.random(in: 0..<4, using: &numbers)
            // The work of another worker may make a step fail, but must not break anything. On a busy machine,
            // a transaction of the other store may take longer than SQLite waits.
            do { try await Self.step(store, index, &numbers) } catch let error as CacheError {
              #expect(
                [.unavailable, .io, .tooLarge, .superseded, .busy].contains(error.code), "\(error)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for index in 0..<4 {
      for variant in try fixture.store.read(key("/\(index)")) {
        try await Self.check(try variant.body.open(), Self.bodies[index])
      }
    }
    await fixture.store.flush()
    await other.flush()
    let rows = try fixture.number("SELECT count(*) FROM entry WHERE file IS NOT NULL")
    try await until { try fixture.directory.bodyFiles().count == Int(rows) }
    let report = try await other.verify(repair: false)
    #expect(report.isSound, "\(report)")
  }

  @Test(
    "a process killed in such work leaves correct whole and partial bodies, and nothing else",
    arguments: [3, 11, 23, 37, 52, 90])
  func killed(steps: Int) async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [cache = cache as String, steps = steps as Int] in
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
      let done = Counter()
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<3 {
          group.addTask {
            var numbers = SeededGenerator(seed: UInt64(worker + 10 * steps))
            while true {
              let index = Int.random(in: 0..<4, using: &numbers)
              try? await Self.step(store, index, &numbers)
              if done.increment() == steps { kill(getpid(), SIGKILL) }
            }
          }
        }
      }
    }
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.openingNotes.isEmpty)
    for index in 0..<4 {
      for variant in try store.read(key("/\(index)")) {
        try await Self.check(try variant.body.open(), Self.bodies[index])
      }
    }
    try await until {
      let writers = try? FileManager.default.contentsOfDirectory(atPath: cache + "/writers")
      return writers?.isEmpty ?? true
    }
    let report = try await store.verify(repair: false)
    #expect(report.isSound, "\(report)")
  }

  private static func step(
    _ store: DiskStore, _ index: Int, _ numbers: inout SeededGenerator
  ) async throws {
    let body = bodies[index]
    let path = "/\(index)"
    let start = Int.random(in: 0..<body.count, using: &numbers)
    let end = Int.random(in: start..<body.count, using: &numbers) + 1
    let variants = try store.read(key(path))
    switch Int.random(in: 0..<10, using: &numbers) {
    case 0: try await store.putPart(path, body, start..<end)
    case 1...2:
      let writer = try await store.write(
        try resumable(path, Int64(body.count)), variantLimit: 3)
      try await append(body[..<end], to: writer)
      switch Int.random(in: 0..<3, using: &numbers) {
      case 0: try await writer.keep()
      case 1: writer.abandon()
      default:
        try await append(body[end...], to: writer)
        try await writer.commit(trailers: [:])
      }
    case 3...6:
      guard let part = variants.first(where: { !$0.record.isComplete })?.record else { return }
      let writer = try await store.extend(part, at: Int64(start))
      let reader = try writer.reader()
      try await append(body[start..<end], to: writer)
      try await check(reader, body)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: writer.abandon()
      case 1: try await writer.keep()
      default: try await writer.commit(trailers: [:])
      }
      try await check(reader, body)
    case 7:
      if let variant = variants.randomElement(using: &numbers) {
        try await store.update(variant.record)
        try await store.remove(.variant(variant.record.key, sequence: variant.record.sequence))
      }
    default:
      for variant in variants { try await check(try variant.body.open(), body) }
    }
  }

  private static func append(_ bytes: ArraySlice<UInt8>, to writer: any BodyWriter) async throws {
    var rest = bytes
    while !rest.isEmpty {
      try await writer.append(BodyBytes(rest.prefix(70_000)))
      rest = rest.dropFirst(70_000)
    }
  }

  private static func check(_ reader: any BodyReader, _ body: [UInt8]) async throws {
    for range in reader.availableRanges {
      let found = try await reader.read(range)
      #expect(found.array == Array(body[Int(range.lowerBound)..<Int(range.upperBound)]))
    }
  }
}
