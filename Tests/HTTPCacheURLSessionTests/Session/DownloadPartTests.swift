import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Downloads that continue from a part beside the destination: the cache has nothing of them, or does not find it.
@Suite(.timeLimit(.minutes(10))) struct DownloadPartTests {
  private static let length: Int64 = 3_000_000
  private static let first: Int64 = 1_000_000
  private let folder: ScratchFolder
  private let target: URL

  init() throws {
    folder = try ScratchFolder()
    target = folder.url("target")
  }

  /// A cache in which no file of this length fits. The first transfer breaks off, later ones send `tag`.
  private func test(tag: String = "\"a\"", takesRanges: Bool = true) throws -> TestSession {
    try TestSession(directory: folder.path("cache"), largestEntry: .bytes(1_000)) { request in
      let fields = [("Cache-Control", "max-age=60")]
      guard request.number == 1 else {
        return takesRanges || request["Range"] == nil
          ? .ranged(request, length: Self.length, tag: tag, fields)
          : OriginAnswer(fields: fields + [("ETag", tag)], steps: [.pattern(0..<Self.length)])
      }
      return Self.brokenOff(fields + [("Accept-Ranges", "bytes")])
    }
  }

  private static func brokenOff(_ fields: [(String, String)] = []) -> OriginAnswer {
    .brokenOff(after: first, of: length, tag: "\"a\"", fields)
  }

  private func names() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)).subtracting(["cache"])
  }

  private func requireWhole() throws {
    #expect(try Array(Data(contentsOf: target)) == OriginAnswer.pattern(0..<Self.length))
    #expect(try names() == ["target"])
  }

  @Test("what broke off is continued, by another session too, as after the end of a process")
  func continued() async throws {
    let test = try test()
    await test.breakOff(to: target)
    #expect(try names() == ["target.httpcache-part"])
    let later = CachedURLSession(
      cache: try HTTPCache.open(HTTPCache.Configuration()), configuration: .ephemeral)
    let progress = Seen<DownloadProgress>()
    let response = try await later.download(for: test.request("/"), to: target) { progress.add($0) }
    try requireWhole()
    let second = test.origin.requests.last
    #expect(test.origin.requests.count == 2)
    #expect(second?["Range"] == "bytes=\(Self.first)-" && second?["If-Range"] == "\"a\"")
    let http = response as? HTTPURLResponse
    #expect(http?.statusCode == 200 && http?.expectedContentLength == Self.length)
    #expect(http?.value(forHTTPHeaderField: "Content-Range") == nil)
    #expect(progress.all.first.map { $0.received > Self.first } == true)
    #expect(progress.last == DownloadProgress(received: Self.length, expected: Self.length))
  }

  @Test("a file that changed is loaded from its start", arguments: [false, true])
  func changed(_ takesRanges: Bool) async throws {
    let test = try test(tag: takesRanges ? "\"b\"" : "\"a\"", takesRanges: takesRanges)
    await test.breakOff(to: target)
    try await test.session.download(for: test.request("/"), to: target)
    #expect(test.origin.requests.count == 2, "the whole file in the answer to the range is used")
    try requireWhole()
  }

  @Test("a part of another URL, account or a reload is not continued")
  func another() async throws {
    for way in 0..<3 {
      let test = try test()
      await test.breakOff(to: target)
      let session = way == 1 ? CachedURLSession(cache: test.cache, partition: "anna") : test.session
      try await session.download(
        for: test.request(way == 0 ? "/other" : "/"), to: target, cachePolicy: way == 2 ? .reload : .standard)
      #expect(test.origin.requests.last?["Range"] == nil)
      try requireWhole()
      try FileManager.default.removeItem(at: target)
    }
  }

  @Test("a stored redirect to the file does not take its part away")
  func storedRedirect() async throws {
    let test = try TestSession(largestEntry: .bytes(1_000)) { request in
      switch request.number {
      case 2:
        return Self.brokenOff()
      case 1, 3: return .redirect(to: "/file", status: 301, [("Cache-Control", "max-age=600")])
      default: return .ranged(request, length: Self.length, tag: "\"a\"")
      }
    }
    await test.breakOff(to: target)
    try await test.session.download(for: test.request("/"), to: target)
    #expect(test.origin.requests.last?["Range"] == "bytes=\(Self.first)-")
    try requireWhole()
  }

  @Test(
    "a stored body that came directly continues where a redirect leads later, if the entity tag is the same",
    arguments: ["\"a\"", "\"b\""])
  func laterRedirect(tag: String) async throws {
    let fields = [("Cache-Control", "max-age=60")]
    let test = try TestSession(directory: folder.path("cache")) { request in
      if request.path == "/other" { return .ranged(request, length: Self.length, tag: tag, fields) }
      return request.number == 1 ? Self.brokenOff(fields) : .redirect(to: "/other")
    }
    await test.breakOff(to: target)
    #expect(try names() == ["target.httpcache-part"])
    try await test.session.download(for: test.request("/"), to: target)
    try requireWhole()
    #expect(test.origin.requests.last?.path == "/other")
    #expect(test.origin.requests.last?["Range"] == (tag == "\"a\"" ? "bytes=\(Self.first)-" : nil))
  }

  @Test("the response has the fields that the answer to the range leaves out (RFC 9110 §15.3.7)")
  func leftOutFields() async throws {
    let test = try TestSession(largestEntry: .bytes(1_000)) { request in
      guard request.number == 1 else { return .ranged(request, length: Self.length, tag: "\"a\"") }
      return Self.brokenOff([("Content-Type", "video/mp4")])
    }
    await test.breakOff(to: target)
    let response = try await test.session.download(for: test.request("/"), to: target)
    let http = response as? HTTPURLResponse
    #expect(http?.value(forHTTPHeaderField: "Content-Type") == "video/mp4")
    try requireWhole()
  }

  @Test("an unfit answer to the range and the request after it are one report of metrics")
  func metrics() async throws {
    let test = try TestSession(largestEntry: .bytes(1_000)) { request in
      switch request.number {
      case 1:
        return Self.brokenOff()
      case 2:
        return OriginAnswer(
          status: 206, fields: [("ETag", "\"a\""), ("Content-Range", "bytes 0-9/\(Self.length)")],
          steps: [.pattern(0..<10)])
      default: return .ranged(request, length: Self.length, tag: "\"a\"")
      }
    }
    await test.breakOff(to: target)
    let reports = Seen<CachedTaskMetrics>()
    try await test.session.download(
      for: test.request("/"), to: target, options: LoadOptions(onMetrics: { reports.add($0) }))
    #expect(test.origin.requests.count == 3)
    #expect(reports.count == 1 && reports.last?.countOfBytesFromOrigin == Self.length)
    try requireWhole()
  }

  @Test("an error of the origin leaves the part; two downloads at once do not mix")
  func errorThenTwo() async throws {
    let latch = Latch()
    let test = try TestSession(largestEntry: .bytes(1_000)) { request in
      switch request.number {
      case 1: return Self.brokenOff()
      // An error to the range gets one request without it.
      case 2, 3: return .text("busy", status: 503)
      case 4:
        var answer = OriginAnswer.ranged(request, length: Self.length, tag: "\"a\"")
        answer.steps.insert(.hold(latch), at: 0)
        return answer
      default: return .ranged(request, length: Self.length, tag: "\"a\"")
      }
    }
    await test.breakOff(to: target)
    await #expect(throws: UnexpectedStatus.self) {
      try await test.session.download(for: test.request("/"), to: target)
    }
    async let continued = test.session.download(for: test.request("/"), to: target)
    await test.origin.arrived(4)
    try await test.session.download(for: test.request("/"), to: target)
    #expect(test.origin.requests.map { $0["Range"] != nil } == [false, true, false, true, false])
    latch.open()
    _ = try await continued
    try requireWhole()
  }
}
