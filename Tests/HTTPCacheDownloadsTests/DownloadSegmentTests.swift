import Foundation
import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheDownloads

@Suite("Ranges of one file at once", .timeLimit(.minutes(10)))
struct DownloadSegmentTests {
  private static let count = 5_000_000

  private func test() throws -> TestQueue { try TestQueue(count: Self.count, onDisk: true) }

  private func ranges(_ test: TestQueue) -> [String] {
    test.upstream.requests.compactMap { $0["Range"] }
  }

  @Test("a file arrives as ranges, each asked for once, and no byte twice")
  func segments() async throws {
    let test = try test()
    let id = try test.add(to: "file", segments: 4)
    try await test.expectFetched(id)
    #expect(test.origin.sent == Self.count)
    #expect(ranges(test).count == 5)
    #expect(Set(ranges(test)).count == ranges(test).count)
    #expect(try test.partFiles().isEmpty)
    let later = test.upstream.requests.dropFirst()
    #expect(later.allSatisfy { $0["If-Range"] == "\"a\"" })
  }

  @Test("connections that break cost only what had not been written")
  func breaks() async throws {
    let test = try test()
    test.origin.change { $0.cuts = [700_000, 300_000, 0, 500_000] }
    let id = try test.add(to: "file", segments: 4)
    try await test.expectFetched(id)
    #expect(test.queue.status(of: id)?.restarts == 0)
  }

  @Test("several ranges in one answer are not mixed in")
  func severalRanges() async throws {
    let test = try test()
    let answer = ScriptedResponse(
      head: HTTPResponse(
        status: .partialContent,
        headerFields: [.contentType: "multipart/byteranges; boundary=x", .eTag: "\"a\""]),
      steps: [.bytes(BodyBytes([UInt8](repeating: 9, count: 10)))], announcedLength: 10)
    test.origin.change { $0.answers = [answer] }
    let id = try test.add(to: "file", segments: 4)
    try await test.expectFetched(id)
  }

  @Test("a queue that is opened again asks for the missing ranges only")
  func reopened() async throws {
    let (test, id) = try await TestQueue.brokenOff(after: 900_000, of: Self.count, segments: 2)
    await test.queue.close()
    let kept = try #require(PartFile(existingBeside: test.path("file"))).kept
    #expect(!kept.isEmpty)
    let sent = test.origin.sent
    let again = try test.reopen()
    again.resume(id)
    try await test.expectFetched(id, in: again)
    let written = kept.reduce(Int64(0)) { $0 + $1.upperBound - $1.lowerBound }
    #expect(Int64(test.origin.sent - sent) == Int64(Self.count) - written)
    await again.close()
  }

  @Test("a part file that is gone, or another file, is not continued")
  func lostPart() async throws {
    let (test, id) = try await TestQueue.brokenOff(after: 900_000, of: Self.count, segments: 4)
    for name in try test.partFiles() {
      try Data().write(to: URL(fileURLWithPath: test.path(name) + "/body"))
    }
    try await test.expectFetched(id)
    #expect(test.queue.status(of: id)?.lastRestart == .notKept)
  }

  @Test("an origin that takes no ranges sends one stream")
  func noRanges() async throws {
    let test = try test()
    test.origin.change { $0.ignoresRanges = true }
    let id = try test.add(to: "file", segments: 4)
    try await test.expectFetched(id)
    #expect(test.queue.status(of: id)?.restarts == 0)
    #expect(ranges(test) == ["bytes=0-1048575"])
  }

  @Test("without a strong validator one stream is used", arguments: [nil, "W/\"a\""] as [String?])
  func noValidator(tag: String?) async throws {
    let test = try test()
    test.origin.change { $0.fields[.eTag] = tag }
    let id = try test.add(to: "file", segments: 4)
    try await test.expectFetched(id)
    #expect(ranges(test).count == 1)
  }

  @Test(
    "a part that is not the one asked for is never mixed in",
    arguments: [
      ("bytes 0-9/5000000", "\"a\""), ("bytes 1048576-1048585/999", "\"a\""),
      ("bytes 1048576-1048585/*", "\"b\""), ("bytes 1048575-1048584/5000000", "\"a\""), ("nonsense", "\"a\""),
    ])
  func wrongPart(range: String, tag: String) async throws {
    let test = try test()
    test.origin.change { $0.cuts = [1_048_576] }
    let id = try test.add(to: "file", segments: 2)
    _ = await test.wait(id) { $0 == .receiving || $0.isRetry || $0.isEnded }
    let answer = ScriptedResponse(
      head: HTTPResponse(
        status: .partialContent,
        headerFields: [.contentRange: range, .eTag: tag, .cacheControl: "max-age=60"]),
      steps: [.bytes(BodyBytes([UInt8](repeating: 9, count: 10)))], announcedLength: 10)
    test.origin.change { $0.answers = [answer] }
    try await test.expectFetched(id)
  }

  @Test("a part without the ETag that If-Range sent is never mixed in (RFC 9110 §15.3.7)")
  func partWithoutTag() async throws {
    let test = try test()
    test.origin.change { $0.cuts = [1_048_576] }
    let id = try test.add(to: "file", segments: 2)
    _ = await test.wait(id) { $0 == .receiving || $0.isRetry || $0.isEnded }
    test.origin.change {
      $0.content = FileOrigin.bytes(Self.count, seed: 5)
      $0.fields[.eTag] = nil
    }
    try await test.expectFetched(id)
  }

  @Test("an origin that answers with a few bytes of a range is asked for the whole file")
  func fewBytes() async throws {
    let test = try test()
    let content = test.origin.content
    test.origin.change { state in
      // The first answer is the first range, the second a byte of the second one.
      state.answers = [(0, 1_048_576), (1_048_576, 1_048_577)].map { first, end in
        ScriptedResponse(
          head: HTTPResponse(
            status: .partialContent,
            headerFields: [.contentRange: "bytes \(first)-\(end - 1)/\(Self.count)", .eTag: "\"a\""]),
          steps: [.bytes(BodyBytes(Array(content[first..<end])))], announcedLength: Int64(end - first))
      }
    }
    let id = try test.add(to: "file", segments: 2)
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.contents("file") == content)
    #expect(test.upstream.requests.last?["Range"] == nil)
  }

  @Test(
    "the entry has the fields that answers to If-Range leave out (RFC 9110 §15.3.7)",
    arguments: [[], [900_000]])
  func leftOutFields(cuts: [Int]) async throws {
    let test = try test()
    test.origin.change {
      $0.fields[.contentType] = "video/mp4"
      $0.leavesOutType = true
      $0.cuts = cuts
    }
    #expect(try await test.end(try test.add(to: "file", segments: 4)) == .done(.fetched))
    let request = try test.download().request
    let stored = test.cache.stored(for: request)?.response
    #expect(stored?.head.headerFields[.contentType] == "video/mp4")
  }

  @Test("a wrong digest leaves neither a file nor a part")
  func digest() async throws {
    let test = try test()
    var download = try test.download(to: "file", segments: 3)
    download.digests = [try #require(.sha256(String(repeating: "0", count: 64)))]
    let id = try test.queue.add(download)
    #expect(try await test.end(id).failure == .wrongDigest)
    #expect(test.contents("file") == nil)
    #expect(try test.partFiles().isEmpty)
  }

  @Test("a removed download leaves no part file")
  func removed() async throws {
    let (test, id) = try await TestQueue.brokenOff(after: 900_000, of: Self.count, segments: 4)
    #expect(try !test.partFiles().isEmpty)
    test.queue.remove(id)
    #expect(try test.partFiles().isEmpty)
  }

  @Test("a full disk half-way fails, keeps what arrived, and goes on when there is space")
  func fullDisk() async throws {
    let free = SharedNumber(1 << 40)
    let (test, id) = try await TestQueue.brokenOff(after: 900_000, of: Self.count, segments: 2) {
      $0.freeSpace = { _ in Int64(free.value) }
    }
    free.value = 1 << 20
    #expect(try await test.end(id).failure == .fullDisk)
    #expect(try !test.partFiles().isEmpty)
    free.value = 1 << 40
    let sent = test.origin.sent
    test.queue.resume(id)
    _ = await test.wait(id) { !$0.isEnded }
    try await test.expectFetched(id)
    #expect(test.origin.sent - sent < Self.count)
  }
}
