import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// `LoadOptions.onMetrics`, and the methods that take options.
@Suite(.timeLimit(.minutes(10))) struct SessionMetricsTests {
  private let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
  private let upstream: ScriptedUpstream
  private let session: CachedURLSession
  private let reports = Seen<CachedTaskMetrics>()
  private var options: LoadOptions { LoadOptions(onMetrics: { [reports] in reports.add($0) }) }

  /// The origin needs a second for the head.
  init() throws {
    upstream = ScriptedUpstream { [clock] received in
      if received.head.path == "/down" { return .failure(.unreachable) }
      clock.advance(by: .seconds(1))
      return ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "text")
    }
    session = CachedURLSession(
      cache: try HTTPCache.open(HTTPCache.Configuration(clock: clock)), via: upstream,
      configuration: .ephemeral)
  }

  private func request(_ path: String = "x") throws -> URLRequest {
    URLRequest(url: try #require(URL(string: "http://a.test/\(path)")))
  }

  @Test("data reports times and bytes from the origin, then from the cache")
  func data() async throws {
    let (_, response) = try await session.data(for: try request(), options: options)
    let first = try #require(reports.last)
    #expect(first.startDate == Date(timeIntervalSince1970: 1_800_000_000))
    #expect(first.timeToResponse == .seconds(1) && first.timeToFirstByte == .seconds(1))
    #expect(first.duration == .seconds(1) && first.cacheOutcome == response.cacheOutcome)
    #expect(first.countOfBytesFromOrigin == 4 && first.countOfBytesFromCache == 0)
    let (again, _) = try await session.data(for: try request(), options: options)
    let second = try #require(reports.last)
    #expect(again == Data("text".utf8) && reports.count == 2 && second.cacheOutcome?.isHit == true)
    #expect(second.duration == .zero && second.timeToFirstByte == .zero)
    #expect(second.countOfBytesFromOrigin == 0 && second.countOfBytesFromCache == 4)
  }

  @Test("bytes reports when the body has ended")
  func bytes() async throws {
    let (bytes, _) = try await session.bytes(for: try request(), options: options)
    #expect(reports.count == 0)
    clock.advance(by: .seconds(5))
    for try await _ in bytes {}
    #expect(reports.count == 1 && reports.last?.duration == .seconds(6))
    #expect(reports.last?.timeToFirstByte == .seconds(6) && reports.last?.timeToResponse == .seconds(1))
  }

  @Test("bytes reports when its body is dropped")
  func dropped() async throws {
    do {
      let (bytes, _) = try await session.bytes(for: try request(), options: options)
      #expect(reports.count == 0 && bytes.length == 4)
    }
    #expect(reports.count == 1 && reports.last?.countOfBytesReceived == 0)
  }

  @Test("a request that fails is reported, without a response")
  func fails() async throws {
    await #expect(throws: URLError.self) {
      try await session.data(for: try request("down"), options: options)
    }
    await #expect(throws: URLError.self) {
      try await session.bytes(for: try request("down"), options: options)
    }
    #expect(reports.count == 2 && reports.last?.cacheOutcome == nil && reports.last?.timeToResponse == nil)
  }

  @Test("downloads and uploads take options", arguments: [false, true])
  func downloadAndUpload(isStored: Bool) async throws {
    if isStored { _ = try await session.data(for: try request()) }
    let folder = try ScratchFolder()
    let destination = folder.url("file")
    try await session.download(for: try request(), to: destination, options: options)
    #expect(try Data(contentsOf: destination) == Data("text".utf8))
    #expect(reports.last?.countOfBytesFromCache == (isStored ? 4 : 0))
    let (file, _) = try await session.download(for: try request(), options: options)
    #expect(reports.last?.countOfBytesFromCache == 4)
    try FileManager.default.removeItem(at: file)
    var put = try request()
    put.httpMethod = "PUT"
    _ = try await session.upload(for: put, from: Data("a".utf8), options: options)
    _ = try await session.upload(for: put, fromFile: destination, options: options)
    #expect(reports.count == 4 && reports.last?.countOfBytesFromOrigin == 4)
    #expect(upstream.requests.compactMap(\.body?.array).suffix(2) == [Array("a".utf8), Array("text".utf8)])
  }

  @Test("values, stored-then-new responses and prefetches take options")
  func valuesAndSequences() async throws {
    var number = try request()
    number.setValue("text/plain", forHTTPHeaderField: "Accept")
    await #expect(throws: DecodingError.self) {
      try await session.value(of: Int.self, for: number, options: options)
    }
    #expect(reports.last?.countOfBytesFromOrigin == 4)
    await #expect(throws: DecodingError.self) {
      try await session.value(
        of: Int.self, from: try #require(number.url), cachePolicy: .reload, options: options)
    }
    #expect(reports.count == 2 && reports.last?.countOfBytesFromOrigin == 4)
    for try await _ in try session.responses(to: number, cachePolicy: .revalidate, options: options) {
      #expect(reports.count == 2)
    }
    #expect(reports.count == 3 && reports.last?.countOfBytesReceived == 4)
    let results = await session.prefetch([number, try request("p")], options: options).value
    #expect(results.count == 2 && reports.count == 5)
    _ = try await session.data(from: try #require(number.url), options: options)
    #expect(reports.count == 6 && reports.last?.cacheOutcome?.isHit == true)
  }

  @Test("a task reports once, before its handler is called")
  func task() async throws {
    let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
    let task = session.uploadTask(with: try request(), from: Data(), options: options) { [reports] _, _, _ in
      continuation.yield(reports.count)
      continuation.finish()
    }
    task.resume()
    for await count in ends { #expect(count == 1) }
    #expect(reports.count == 1 && reports.last == task.metrics && task.metrics.countOfBytesFromOrigin == 4)
  }
}
