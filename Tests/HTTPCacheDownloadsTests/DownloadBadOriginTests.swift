import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("Origins that answer wrongly", .timeLimit(.minutes(10)))
struct DownloadBadOriginTests {
  private static func part(
    _ range: String, _ bytes: [UInt8], _ fields: HTTPFields = [.eTag: "\"a\""]
  ) -> ScriptedResponse {
    var fields = fields
    fields[.contentRange] = range
    fields[.cacheControl] = "max-age=60"
    return ScriptedResponse(
      head: HTTPResponse(status: .partialContent, headerFields: fields), steps: [.bytes(BodyBytes(bytes))],
      announcedLength: Int64(bytes.count))
  }

  @Test(
    "a connection that breaks after any number of bytes, of a range too, costs none of them",
    arguments: [(false, 1), (true, 1), (true, 4)])
  func everyOffset(onDisk: Bool, segments: Int) async throws {
    let count = 24
    for offset in 0..<count {
      let test = try TestQueue(count: count, onDisk: onDisk)
      test.origin.change {
        $0.cuts = [offset]
        if segments > 1 { $0.piece = 5 }
      }
      let id = try test.add(to: "file", segments: segments)
      #expect(try await test.end(id) == .done(.fetched), "\(offset)")
      #expect(test.contents("file") == test.origin.content, "\(offset)")
      #expect(test.origin.sent == count, "\(offset)")
      #expect(test.queue.status(of: id)?.restarts == 0, "\(offset)")
    }
  }

  @Test("a connection that breaks after each byte, and sometimes before any", arguments: [false, true])
  func everyByte(onDisk: Bool) async throws {
    let test = try TestQueue(count: 24, onDisk: onDisk)
    test.origin.change { $0.cuts = (0..<60).map { $0 % 3 == 0 ? 0 : 1 } }
    let id = try test.add("/file", to: "file")
    // After the last byte the connection breaks too: the last attempt finds all bytes in the cache.
    #expect(try await test.end(id).failure == nil)
    #expect(test.contents("file") == test.origin.content)
    #expect(test.origin.sent == 24)
  }

  @Test("an origin that ignores Range is read from the beginning, and the status says so")
  func ignoresRange() async throws {
    let test = try TestQueue(count: 300_000, onDisk: true)
    test.origin.change {
      $0.ignoresRanges = true
      $0.cuts = [200_000]
    }
    let id = try test.add("/file", to: "file")
    #expect(try await test.end(id) == .done(.fetched))
    let status = test.queue.status(of: id)
    #expect(status?.restarts == 1 && status?.lastRestart == .rangeIgnored)
    #expect(test.contents("file") == test.origin.content)
  }

  @Test("one that ignores Range and always breaks at one place does not run for ever")
  func neverWhole() async throws {
    let test = try TestQueue(count: 300_000) { $0.tryLimit = 3 }
    test.origin.change {
      $0.ignoresRanges = true
      $0.cuts = Array(repeating: 200_000, count: 99)
    }
    let id = try test.add()
    #expect(try await test.end(id).failure == .interrupted)
    #expect(test.upstream.requestCount < 8)
  }

  @Test(
    "a part that is not the one asked for is never mixed in",
    arguments: [
      part("bytes 0-9/300000", [UInt8](repeating: 9, count: 10)),
      part("bytes 200001-200010/300000", [UInt8](repeating: 9, count: 10)),
      part("bytes 200000-299999/299999", [UInt8](repeating: 9, count: 100_000)),
      part("bytes 200000-299999/*", [UInt8](repeating: 9, count: 100_000), [.eTag: "\"b\""]),
      part("bytes 200000-299999/400000", [UInt8](repeating: 9, count: 100_000)),
      part("bytes 200000-299999/300000", [UInt8](repeating: 9, count: 100_000), [.eTag: "W/\"a\""]),
      part(
        "bytes 200000-299999/300000", [UInt8](repeating: 9, count: 100_000),
        [.eTag: "\"a\"", .contentType: "multipart/byteranges; boundary=x"]),
      part("nonsense", [9]),
    ])
  func wrongPart(answer: ScriptedResponse) async throws {
    let (test, id) = try await TestQueue.brokenOff()
    test.origin.change { $0.answers = [answer] }
    try await test.expectFetched(id)
  }

  @Test(
    "a file that changes during the download begins again, is never mixed, and the status says so",
    arguments: [(200_000, 300_000, 1), (900_000, 5_000_000, 4)])
  func changes(cut: Int, count: Int, segments: Int) async throws {
    let (test, id) = try await TestQueue.brokenOff(after: cut, of: count, segments: segments)
    test.origin.change {
      $0.content = FileOrigin.bytes(count - 50_000, seed: 5)
      $0.fields[.eTag] = "\"b\""
      $0.cuts = []
    }
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.queue.status(of: id)?.lastRestart == .changed)
    #expect(test.contents("file") == test.origin.content)
  }

  @Test("a file that changes at each attempt fails as changed")
  func changesAlways() async throws {
    let test = try TestQueue(count: 300_000) { $0.restartLimit = 2 }
    test.origin.change { $0.cuts = Array(repeating: 200_000, count: 9) }
    let id = try test.add()
    for number in 0..<3 {
      _ = await test.wait(id) { $0.isRetry }
      test.origin.change { $0.fields[.eTag] = "\"\(number)\"" }
      try await test.retry(id)
    }
    #expect(try await test.end(id).failure == .changed)
    #expect(test.upstream.requestCount == 4)
  }

  @Test("redirects in a circle fail at once")
  func circle() async throws {
    let test = try TestQueue()
    test.origin.change {
      $0.answers = (0..<99).map {
        ScriptedResponse(status: 302, headers: ["Location": "https://example.com/\($0 % 2)"])
      }
    }
    let id = try test.add("/0")
    #expect(try await test.end(id).failure == .redirects)
    #expect(test.upstream.requestCount == 21)
  }

  @Test("a redirect that leads to another host after a break begins there from the start")
  func otherHost() async throws {
    let test = try TestQueue(count: 300_000, onDisk: true)
    let location: (String) -> ScriptedResponse = {
      ScriptedResponse(status: 302, headers: ["Location": "https://\($0)/file", "Cache-Control": "no-store"])
    }
    test.origin.change {
      $0.answers = [location("one.example.com")]
      $0.cuts = [200_000]
    }
    let id = try test.add("/file", to: "file")
    _ = await test.wait(id) { $0.isRetry }
    test.origin.change {
      // The answer to the range says that the file is another one, which is asked for then.
      $0.answers = [location("two.example.com")]
      $0.content = FileOrigin.bytes(300_000, seed: 3)
      $0.fields[.eTag] = "\"other\""
    }
    try await test.expectFetched(id)
    #expect(test.upstream.requests.contains { $0.head.authority == "two.example.com" })
    #expect(test.queue.status(of: id)?.lastRestart == .changed)
  }

  @Test("bytes of two URLs are not joined by their date")
  func otherHostByDate() async throws {
    let test = try TestQueue(count: 300_000, onDisk: true)
    let location: (String) -> ScriptedResponse = {
      ScriptedResponse(status: 302, headers: ["Location": "https://\($0)/file", "Cache-Control": "no-store"])
    }
    test.origin.change {
      $0.fields[.eTag] = nil
      $0.fields[.lastModified] = Timestamp(seconds: 1_600_000_000).httpDate
      $0.fields[.date] = TestQueue.start.httpDate
      $0.answers = [location("one.example.com")]
      $0.cuts = [200_000]
    }
    let id = try test.add("/file", to: "file")
    _ = await test.wait(id) { $0.isRetry }
    test.origin.change {
      $0.answers = [location("two.example.com")]
      $0.content = FileOrigin.bytes(300_000, seed: 3)
    }
    try await test.expectFetched(id)
    #expect(
      test.upstream.requests.contains { $0.head.authority == "two.example.com" && $0["If-Range"] != nil })
  }

  #if Crypto
    @Test("a digest is of the file, also if a transfer repeats bytes that are there")
    func repeatedBytes() async throws {
      let test = try TestQueue(count: 1_000_000, onDisk: true)
      test.origin.change {
        $0.fields[.cacheControl] = "no-store"
        $0.ignoresRanges = true
        $0.cuts = [700_000]
      }
      var download = try test.download("/file", to: "file")
      // The digest of a million times "a" (FIPS 180-2, B.3).
      download.digests = [
        try #require(.sha256("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"))
      ]
      let id = try test.queue.add(download)
      _ = await test.wait(id) { $0.isRetry }
      test.origin.change { $0.content = [UInt8](repeating: 0x61, count: 1_000_000) }
      #expect(try await test.end(id).failure == .wrongDigest)
      #expect(test.contents("file") == nil)
    }
  #endif

  /// A stored body has come directly and broken off; a redirect leads to another URL from then on.
  private func redirected() async throws -> (TestQueue, DownloadID) {
    let (test, id) = try await TestQueue.brokenOff()
    test.origin.change {
      $0.special = { request in
        guard request.head.authority == "example.com" else { return nil }
        return ScriptedResponse(status: 302, headers: ["Location": "https://two.example.com/file"])
      }
    }
    return (test, id)
  }

  @Test("a stored body that came directly continues where a redirect leads later")
  func laterRedirect() async throws {
    let (test, id) = try await redirected()
    try await test.expectFetched(id)
    // The file system may clone the stored body: then the part has no bytes.
    let isPartWritten = !Volume.sharesBlocks(of: test.folder.path, with: test.folder.path("cache"))
    #expect(test.queue.status(of: id)?.lastRestart == (isPartWritten ? nil : .notKept))
    #expect(test.upstream.requests.last?["Range"] == (isPartWritten ? "bytes=200000-" : nil))
    #expect(test.upstream.requests.last?.head.authority == "two.example.com")
    #expect(try test.partFiles().isEmpty)
  }

  @Test("a stored body of another representation, to which a redirect leads later, begins anew")
  func laterRedirectToAnother() async throws {
    let (test, id) = try await redirected()
    test.origin.change {
      $0.content = FileOrigin.bytes(300_000, seed: 3)
      $0.fields[.eTag] = "\"other\""
    }
    try await test.expectFetched(id)
    #expect(test.queue.status(of: id)?.lastRestart == .changed)
  }

  @Test("a part of which the cache has lost its bytes goes on")
  func lostEntry() async throws {
    let (test, id) = try await TestQueue.brokenOff()
    try await test.cache.remove(.all)
    try await test.expectFetched(id)
    let isPartWritten = !Volume.sharesBlocks(of: test.folder.path, with: test.folder.path("cache"))
    #expect(test.upstream.requests.last?["Range"] == (isPartWritten ? "bytes=200000-" : nil))
  }

  @Test("a body shorter or longer than announced is not taken for the file", arguments: [-1, 1])
  func wrongLength(difference: Int) async throws {
    let test = try TestQueue(count: 1_000) { $0.tryLimit = 2 }
    test.origin.change { state in
      let head = HTTPResponse(
        status: .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60", .contentLength: "1000"])
      let bytes = BodyBytes(FileOrigin.bytes(1_000 + difference))
      state.answers = [ScriptedResponse(head: head, steps: [.bytes(bytes)], announcedLength: 1_000)]
    }
    let id = try test.add("/file", to: "file")
    _ = await test.wait(id) { $0.isRetry }
    #expect(test.contents("file") == nil)
    try await test.expectFetched(id)
  }

  @Test("a body that stalls ends after the limit, and is continued")
  func stalls() async throws {
    let test = try TestQueue(count: 300_000, onDisk: true) { $0.stallLimit = .seconds(30) }
    let gate = Gate()
    test.origin.change { state in
      let head = HTTPResponse(
        status: .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60", .contentLength: "300000"])
      let bytes = BodyBytes(state.content[..<200_000])
      state.answers = [
        ScriptedResponse(head: head, steps: [.bytes(bytes), .wait(gate)], announcedLength: 300_000)
      ]
    }
    let id = try test.add("/file", to: "file")
    await gate.waitForArrivals(1)
    while test.queue.status(of: id)?.state.isRetry != true {
      await test.clock.waitForSleepers()
      if test.queue.status(of: id)?.state.isRetry != true { test.clock.advance(by: 30) }
      for _ in 0..<100 { await Task.yield() }
    }
    let state = test.queue.status(of: id)?.state
    guard case .waiting(.retry(_, let failure)) = state else {
      Issue.record("\(String(describing: state))")
      return
    }
    #expect(failure.kind == .timeout)
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.upstream.requests.last?["Range"] == "bytes=200000-")
    #expect(test.contents("file") == test.origin.content)
  }
}
