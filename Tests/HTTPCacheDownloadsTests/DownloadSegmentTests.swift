import Foundation
import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheDownloads

@Suite("Ranges of one file at once", .timeLimit(.minutes(10)))
struct DownloadSegmentTests {
  private static let count = 5_000_000

  private func kitchen(
    _ change: (inout DownloadQueue.Configuration) -> Void = { _ in }
  ) throws -> DownloadKitchen {
    try DownloadKitchen(count: Self.count, onDisk: true, change)
  }

  private func add(_ kitchen: DownloadKitchen, segments: Int = 4) throws -> DownloadID {
    var download = try kitchen.download("/file", to: "file")
    download.segments = segments
    return try kitchen.queue.add(download)
  }

  private func ranges(_ kitchen: DownloadKitchen) -> [String] {
    kitchen.upstream.requests.compactMap { $0["Range"] }
  }

  @Test("a file arrives as ranges, each asked for once, and no byte twice")
  func segments() async throws {
    let kitchen = try kitchen()
    let id = try add(kitchen)
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.origin.sent == Self.count)
    #expect(ranges(kitchen).count == 5)
    #expect(Set(ranges(kitchen)).count == ranges(kitchen).count)
    #expect(try kitchen.partFiles().isEmpty)
    let later = kitchen.upstream.requests.dropFirst()
    #expect(later.allSatisfy { $0["If-Range"] == "\"a\"" })
  }

  @Test("connections that break cost only what had not been written")
  func breaks() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.cuts = [700_000, 300_000, 0, 500_000] }
    let id = try add(kitchen)
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.queue.status(of: id)?.restarts == 0)
  }

  @Test("a connection that breaks after any number of bytes of a range costs none of them")
  func everyOffset() async throws {
    let count = 24
    for offset in 0..<count {
      let kitchen = try DownloadKitchen(count: count, onDisk: true)
      kitchen.origin.change {
        $0.cuts = [offset]
        $0.piece = 5
      }
      let id = try add(kitchen)
      #expect(try await kitchen.end(id) == .done(.fetched), "\(offset)")
      #expect(kitchen.contents("file") == kitchen.origin.content, "\(offset)")
      #expect(kitchen.origin.sent == count, "\(offset)")
      #expect(kitchen.queue.status(of: id)?.restarts == 0, "\(offset)")
    }
  }

  @Test("several ranges in one answer are not mixed in")
  func severalRanges() async throws {
    let kitchen = try kitchen()
    let answer = ScriptedResponse(
      head: HTTPResponse(
        status: .partialContent,
        headerFields: [.contentType: "multipart/byteranges; boundary=x", .eTag: "\"a\""]),
      steps: [.bytes(BodyBytes([UInt8](repeating: 9, count: 10)))], announcedLength: 10)
    kitchen.origin.change { $0.answers = [answer] }
    let id = try add(kitchen)
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
  }

  @Test("a queue that is opened again asks for the missing ranges only")
  func reopened() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.cuts = [900_000] }
    let id = try add(kitchen, segments: 2)
    _ = await kitchen.wait(id) { $0.isRetry }
    await kitchen.queue.close()
    let kept = try #require(PartFile(existingBeside: kitchen.path("file"))).kept
    #expect(!kept.isEmpty)
    let sent = kitchen.origin.sent
    let again = try kitchen.reopen()
    again.resume(id)
    #expect(try await kitchen.end(id, in: again) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    let written = kept.reduce(Int64(0)) { $0 + $1.upperBound - $1.lowerBound }
    #expect(Int64(kitchen.origin.sent - sent) == Int64(Self.count) - written)
    await again.close()
  }

  @Test("a part file that is gone, or another file, is not continued")
  func lostPart() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.cuts = [900_000] }
    let id = try add(kitchen)
    _ = await kitchen.wait(id) { $0.isRetry }
    for name in try kitchen.partFiles() {
      try Data().write(to: URL(fileURLWithPath: kitchen.path(name) + "/body"))
    }
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.queue.status(of: id)?.lastRestart == .notKept)
  }

  @Test("an origin that takes no ranges sends one stream")
  func noRanges() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.ignoresRanges = true }
    let id = try add(kitchen)
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.queue.status(of: id)?.restarts == 0)
    #expect(ranges(kitchen) == ["bytes=0-1048575"])
  }

  @Test("without a strong validator one stream is used", arguments: [nil, "W/\"a\""] as [String?])
  func noValidator(tag: String?) async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.fields[.eTag] = tag }
    let id = try add(kitchen)
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(ranges(kitchen).count == 1)
  }

  @Test("a file that changes between the ranges begins again, is never mixed, and the status says so")
  func changes() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.cuts = [900_000] }
    let id = try add(kitchen)
    _ = await kitchen.wait(id) { $0.isRetry }
    kitchen.origin.change {
      $0.content = FileOrigin.bytes(4_000_000, seed: 5)
      $0.fields[.eTag] = "\"b\""
      $0.cuts = []
    }
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.queue.status(of: id)?.lastRestart == .changed)
  }

  @Test(
    "a part that is not the one asked for is never mixed in",
    arguments: [
      ("bytes 0-9/5000000", "\"a\""), ("bytes 1048576-1048585/999", "\"a\""),
      ("bytes 1048576-1048585/*", "\"b\""), ("bytes 1048575-1048584/5000000", "\"a\""), ("nonsense", "\"a\""),
    ])
  func wrongPart(range: String, tag: String) async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.cuts = [1_048_576] }
    let id = try add(kitchen, segments: 2)
    _ = await kitchen.wait(id) { $0 == .receiving || $0.isRetry || $0.isEnded }
    let answer = ScriptedResponse(
      head: HTTPResponse(
        status: .partialContent,
        headerFields: [.contentRange: range, .eTag: tag, .cacheControl: "max-age=60"]),
      steps: [.bytes(BodyBytes([UInt8](repeating: 9, count: 10)))], announcedLength: 10)
    kitchen.origin.change { $0.answers = [answer] }
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
  }

  @Test("a part without the ETag that If-Range sent is never mixed in (RFC 9110 §15.3.7)")
  func partWithoutTag() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.cuts = [1_048_576] }
    let id = try add(kitchen, segments: 2)
    _ = await kitchen.wait(id) { $0 == .receiving || $0.isRetry || $0.isEnded }
    kitchen.origin.change {
      $0.content = FileOrigin.bytes(Self.count, seed: 5)
      $0.fields[.eTag] = nil
    }
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
  }

  @Test("an origin that answers with a few bytes of a range is asked for the whole file")
  func fewBytes() async throws {
    let kitchen = try kitchen()
    let content = kitchen.origin.content
    kitchen.origin.change { state in
      // The first answer is the first range, the second a byte of the second one.
      state.answers = [(0, 1_048_576), (1_048_576, 1_048_577)].map { first, end in
        ScriptedResponse(
          head: HTTPResponse(
            status: .partialContent,
            headerFields: [.contentRange: "bytes \(first)-\(end - 1)/\(Self.count)", .eTag: "\"a\""]),
          steps: [.bytes(BodyBytes(Array(content[first..<end])))], announcedLength: Int64(end - first))
      }
    }
    let id = try add(kitchen, segments: 2)
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == content)
    #expect(kitchen.upstream.requests.last?["Range"] == nil)
  }

  @Test(
    "the entry has the fields that answers to If-Range leave out (RFC 9110 §15.3.7)",
    arguments: [[], [900_000]])
  func leftOutFields(cuts: [Int]) async throws {
    let kitchen = try kitchen()
    kitchen.origin.change {
      $0.fields[.contentType] = "video/mp4"
      $0.leavesOutType = true
      $0.cuts = cuts
    }
    #expect(try await kitchen.end(try add(kitchen)) == .done(.fetched))
    let request = try kitchen.download().request
    let stored = kitchen.cache.stored(for: request)?.response
    #expect(stored?.head.headerFields[.contentType] == "video/mp4")
  }

  @Test("a wrong digest leaves neither a file nor a part")
  func digest() async throws {
    let kitchen = try kitchen()
    var download = try kitchen.download("/file", to: "file")
    download.segments = 3
    download.digests = [try #require(.sha256(String(repeating: "0", count: 64)))]
    let id = try kitchen.queue.add(download)
    #expect(try await kitchen.end(id).failure == .wrongDigest)
    #expect(kitchen.contents("file") == nil)
    #expect(try kitchen.partFiles().isEmpty)
  }

  @Test("a removed download leaves no part file")
  func removed() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change { $0.cuts = [900_000] }
    let id = try add(kitchen)
    _ = await kitchen.wait(id) { $0.isRetry }
    #expect(try !kitchen.partFiles().isEmpty)
    kitchen.queue.remove(id)
    #expect(try kitchen.partFiles().isEmpty)
  }

  @Test("a response that the cache does not store goes on after a break")
  func notStored() async throws {
    let kitchen = try kitchen()
    kitchen.origin.change {
      $0.fields[.cacheControl] = "no-store"
      $0.cuts = [900_000]
    }
    let id = try kitchen.add("/file", to: "file")
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.origin.sent < Self.count + 200_000)
    #expect(kitchen.queue.status(of: id)?.restarts == 0)
  }

  @Test("a full disk half-way fails, keeps what arrived, and goes on when there is space")
  func fullDisk() async throws {
    let free = SharedNumber(1 << 40)
    let kitchen = try kitchen { $0.freeSpace = { _ in Int64(free.value) } }
    kitchen.origin.change { $0.cuts = [900_000] }
    let id = try add(kitchen, segments: 2)
    _ = await kitchen.wait(id) { $0.isRetry }
    free.value = 1 << 20
    #expect(try await kitchen.end(id).failure == .fullDisk)
    #expect(try !kitchen.partFiles().isEmpty)
    free.value = 1 << 40
    let sent = kitchen.origin.sent
    kitchen.queue.resume(id)
    _ = await kitchen.wait(id) { !$0.isEnded }
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(kitchen.contents("file") == kitchen.origin.content)
    #expect(kitchen.origin.sent - sent < Self.count)
  }
}
