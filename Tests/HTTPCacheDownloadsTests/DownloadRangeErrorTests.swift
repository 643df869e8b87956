import Foundation
import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("Origins that answer a range with something else", .timeLimit(.minutes(10)))
struct DownloadRangeErrorTests {
  private static let count = 3_000_000

  private func test() throws -> TestQueue { try TestQueue(count: Self.count, onDisk: true) }

  private func ranges(_ test: TestQueue) -> [String?] {
    test.upstream.requests.map { $0["Range"] }
  }

  @Test(
    "an error, and a success without the file, get one request without the range, and the file arrives",
    arguments: [202, 204, 205, 299, 400, 403, 404, 405, 500, 501, 503], [1, 4])
  func errors(status: Int, segments: Int) async throws {
    let (test, id) = try await TestQueue.brokenOff(
      after: 700_000, of: Self.count, segments: segments,
      cacheControl: segments == 1 ? "no-store" : "max-age=60")
    let before = test.upstream.requestCount
    test.origin.change { $0.answers = [ScriptedResponse(status: status, body: "no")] }
    try await test.retry(id)
    try await test.expectFetched(id)
    let asked = ranges(test).dropFirst(before)
    #expect(asked.first.flatMap { $0 } != nil && asked.contains(nil))
  }

  @Test("a 304 to a range is asked again without it")
  func notModified() async throws {
    let (test, id) = try await TestQueue.brokenOff(
      after: 700_000, of: Self.count, cacheControl: "no-store")
    test.origin.change { $0.answers = [ScriptedResponse(status: 304, headers: ["ETag": "\"a\""])] }
    try await test.retry(id)
    try await test.expectFetched(id)
  }

  @Test(
    "a 200 with a Content-Range, or another length under the same tag, is no shorter file",
    arguments: [true, false])
  func contradictions(hasRange: Bool) async throws {
    let (test, id) = try await TestQueue.brokenOff(
      after: 700_000, of: Self.count, cacheControl: "no-store")
    var fields: HTTPFields = [.eTag: "\"a\"", .contentLength: "1000"]
    if hasRange { fields[.contentRange] = "bytes 700000-700999/\(Self.count)" }
    let answer = ScriptedResponse(
      head: HTTPResponse(status: .ok, headerFields: fields),
      steps: [.bytes(BodyBytes([UInt8](repeating: 1, count: 1_000)))],
      announcedLength: 1_000)
    test.origin.change { $0.answers = [answer] }
    try await test.retry(id)
    await test.wait(id) { $0.isRetry || $0.isEnded }
    #expect(test.contents("file") == nil)
    try await test.retry(id)
    try await test.expectFetched(id)
  }

  @Test("where one URL fails, a mirror is asked at once, without the credentials of the first")
  func mirrors() async throws {
    for status in [404, 403, 500] {
      let test = try test()
      test.origin.change { $0.answers = [ScriptedResponse(status: status)] }
      var download = try test.download("/file", to: "file")
      download.request.headerFields[.authorization] = "Basic YTpi"
      download.mirrors = ["https://mirror.example/other?a=b"]
      let id = try test.queue.add(download)
      try await test.expectFetched(id)
      let requests = test.upstream.requests
      #expect(requests.map(\.head.authority) == ["example.com", "mirror.example"])
      #expect(requests.last?.head.path == "/other?a=b")
      #expect(requests.map { $0["Authorization"] } == ["Basic YTpi", nil])
    }
  }

  @Test("bytes that were dropped are not counted: of a wrong digest, before a mirror without the file")
  func droppedBytes() async throws {
    let test = try test()
    test.origin.change {
      $0.special = { request in
        request.head.authority == "mirror.example" ? ScriptedResponse(status: 404, body: "not here") : nil
      }
    }
    var download = try test.download("/file", to: "file")
    download.digests = [try #require(.sha256(String(repeating: "1", count: 64)))]
    download.mirrors = ["https://mirror.example/file"]
    let id = try test.queue.add(download)
    let status = await test.wait(id) { $0.isRetry || $0.isEnded }
    #expect(status?.received == 0)
    #expect(test.upstream.requests.last?.head.authority == "mirror.example")
  }

  @Test("a 404 that is stored leaves the count of the bytes of the part")
  func storedError() async throws {
    let test = try test()
    test.origin.change {
      $0.fields = [.cacheControl: "no-store", .eTag: "\"a\""]
      $0.cuts = [70_000]
    }
    let id = try test.queue.add(try test.download("/file", to: "file"))
    let first = await test.wait(id) { $0.isRetry || $0.isEnded }
    test.origin.change {
      $0.special = { _ in
        ScriptedResponse(
          status: 404, headers: ["Cache-Control": "max-age=60"], body: String(repeating: "a", count: 200_000))
      }
    }
    try await test.retry(id)
    let second = await test.wait(id) { $0.isRetry || $0.isEnded }
    let (before, after) = (first?.received, second?.received)
    #expect(before ?? 0 > 0)
    #expect(after == before, "\(String(describing: second?.state))")
  }

  @Test("ranges come from all mirrors")
  func segments() async throws {
    let test = try test()
    var download = try test.download(to: "file", segments: 2)
    download.mirrors = ["https://mirror.example/file"]
    let id = try test.queue.add(download)
    try await test.expectFetched(id)
    #expect(Set(test.upstream.requests.map(\.head.authority)) == ["example.com", "mirror.example"])
  }

  @Test(
    "a mirror that fails, or has another file, leaves its ranges to the URL that works",
    arguments: [false, true])
  func badMirror(isOtherFile: Bool) async throws {
    let test = try TestQueue(count: 16 << 20, onDisk: true)
    test.origin.change {
      $0.special = { request in
        if isOtherFile {
          guard request.head.authority == "mirror.example" else { return nil }
          return ScriptedResponse(
            head: HTTPResponse(status: .ok, headerFields: [.eTag: "\"m\""]),
            steps: [.bytes(BodyBytes([1, 2, 3]))], announcedLength: 3)
        }
        return request.head.authority == "example.com" ? ScriptedResponse.failure(.unreachable) : nil
      }
    }
    var download = try test.download(to: "file", segments: 4)
    download.mirrors = ["https://mirror.example/file"]
    let id = try test.queue.add(download)
    let status = await test.wait(id) { $0.isRetry || $0.isEnded }
    #expect(status?.state == .done(.fetched) && status?.restarts == 0)
    let isSame = test.contents("file") == test.origin.content
    #expect(isSame)
  }

  @Test("the list keeps mirrors")
  func record() throws {
    var download = try Download("https://example.com/a", to: "/tmp/a")
    download.mirrors = ["https://b.example/a", "http://c.example:8080/a?b"]
    let item = DownloadItem(id: DownloadID(rawValue: 1), download: download, position: 1)
    let bytes = try #require(DownloadRecord.encode(item))
    #expect(try DownloadRecord.decode(bytes).download.mirrors == download.mirrors)
  }

  #if Crypto
    @Test(
      "digests of every algorithm are compared",
      arguments: [
        (IntegrityDigest.Algorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
        (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
          .sha512,
          "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
      ])
    func digests(algorithm: IntegrityDigest.Algorithm, text: String) async throws {
      let digest = try #require(IntegrityDigest(algorithm: algorithm, hexadecimal: text.uppercased()))
      #expect(IntegrityDigest(algorithm: algorithm, hexadecimal: String(text.dropLast())) == nil)
      for (content, isRight) in [("abc", true), ("abd", false)] {
        let test = try TestQueue()
        test.origin.change { $0.content = Array(content.utf8) }
        var download = try test.download("/file", to: "file")
        download.digests = [digest]
        let id = try test.queue.add(download)
        let state = try await test.end(id)
        if isRight { #expect(state == .done(.fetched)) } else { #expect(test.contents("file") == nil) }
      }
    }
  #endif
}
