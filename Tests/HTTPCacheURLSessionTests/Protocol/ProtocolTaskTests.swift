import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

/// Tasks that are suspended, cancelled, late, or fail.
@Suite(.timeLimit(.minutes(10))) struct ProtocolTaskTests {
  @Test func suspendedTaskGetsNothingUntilResumed() async throws {
    let gate = Gate()
    let test = TestCache([
      ScriptedResponse(chunks: [BodyBytes([1]), BodyBytes([2])]).stalling(after: 1, at: gate)
    ])
    let log = DelegateLog()
    let session = test.session(delegate: log)
    defer { session.finishTasksAndInvalidate() }
    let task = session.dataTask(with: TestCache.url("/"))
    task.resume()
    await log.wait { $0.data.count == 1 }
    task.suspend()
    gate.open()
    // The queue of the task comes to `suspend` before it comes to this.
    let otherTest = TestCache([ScriptedResponse(body: "x")])
    let other = otherTest.session()
    _ = try await other.get("/")
    other.finishTasksAndInvalidate()
    #expect(otherTest.origin.requestCount == 1)
    #expect(log.now.data.count == 1)
    #expect(!log.now.isComplete)
    task.resume()
    await log.wait { $0.isComplete }
    #expect(log.now.data == Data([1, 2]))
    #expect(test.origin.requestCount == 1)
  }

  @Test func suspendedPostIsSentOnce() async throws {
    let gate = Gate()
    let test = TestCache([ScriptedResponse(body: "done").stallingBeforeHead(at: gate)])
    let log = DelegateLog()
    let session = test.session(delegate: log)
    defer { session.finishTasksAndInvalidate() }
    let task = session.dataTask(with: TestCache.request("/", method: "POST", body: "content"))
    task.resume()
    await test.origin.waitForRequests(1)
    for _ in 0..<3 {
      task.suspend()
      task.resume()
    }
    gate.open()
    await log.wait { $0.isComplete }
    #expect(log.now.data == Data("done".utf8))
    #expect(test.origin.requests.map { $0.body?.array } == [Array("content".utf8)])
  }

  @Test func streamedBodyIsSent() async throws {
    let test = TestCache([ScriptedResponse(body: "done")])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    var request = TestCache.request("/", method: "POST")
    let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    request.httpBodyStream = InputStream(data: content)
    _ = try await session.get(request)
    #expect(test.origin.requests.first?.body?.array == Array(content))
  }

  @Test func cancelledTaskStopsTheTransfer() async throws {
    let gate = Gate()
    let test = TestCache([
      ScriptedResponse(chunks: [BodyBytes([1]), BodyBytes([2])]).stalling(after: 1, at: gate)
    ])
    let log = DelegateLog()
    let session = test.session(delegate: log)
    defer { session.finishTasksAndInvalidate() }
    let task = session.dataTask(with: TestCache.url("/"))
    task.resume()
    await log.wait { $0.data.count == 1 }
    task.cancel()
    await log.wait { $0.isComplete }
    #expect((log.now.error as? URLError)?.code == .cancelled)
    try await until { test.origin.cancelledBodies > 0 }
    gate.open()
    #expect(log.now.data.count == 1)
  }

  @Test func taskCancelledAtItsResponseEnds() async throws {
    let gate = Gate()
    let test = TestCache([ScriptedResponse(body: "one").stalling(at: gate)])
    let log = DelegateLog { $0.cancel() }
    let session = test.session(delegate: log)
    defer { session.finishTasksAndInvalidate() }
    session.dataTask(with: TestCache.url("/")).resume()
    await log.wait { $0.isComplete }
    gate.open()
    #expect((log.now.error as? URLError)?.code == .cancelled)
    #expect(log.now.pieces.isEmpty)
  }

  @Test func cancelledAsyncCallEnds() async throws {
    let gate = Gate()
    let test = TestCache([ScriptedResponse(body: "one").stallingBeforeHead(at: gate)])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    let call = Task { try await session.get("/") }
    await test.origin.waitForRequests(1)
    call.cancel()
    let error = await #expect(throws: URLError.self) { try await call.value }
    #expect(error?.code == .cancelled)
  }

  @Test func invalidatedSessionEndsItsTasks() async throws {
    let gate = Gate()
    let test = TestCache([ScriptedResponse(body: "one").stallingBeforeHead(at: gate)])
    let log = DelegateLog()
    let session = test.session(delegate: log)
    session.dataTask(with: TestCache.url("/")).resume()
    await test.origin.waitForRequests(1)
    session.invalidateAndCancel()
    await log.wait { $0.isComplete }
    #expect((log.now.error as? URLError)?.code == .cancelled)
  }

  @Test func stalledTransferTimesOut() async throws {
    let gate = Gate()
    let test = TestCache([
      ScriptedResponse(body: "one").stallingBeforeHead(at: gate),
      ScriptedResponse(body: "one").stalling(at: gate),
    ])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    for path in ["/head", "/body"] {
      var request = TestCache.request(path)
      request.timeoutInterval = 0.1
      let error = await #expect(throws: URLError.self) { try await session.get(request) }
      #expect(error?.code == .timedOut)
    }
    gate.open()
  }

  @Test func failuresHaveFoundationsCodes() async throws {
    let test = TestCache([
      .failure(.unreachable), .failure(.timeout), .failure(.tls),
      .failure(UpstreamError(.protocol, "x", cause: URLError(.networkConnectionLost))),
      ScriptedResponse(chunks: [BodyBytes([1])]).cutShort(),
    ])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    let codes: [URLError.Code] = [
      .cannotConnectToHost, .timedOut, .secureConnectionFailed, .networkConnectionLost,
      .badServerResponse,
    ]
    for code in codes {
      let error = await #expect(throws: URLError.self) { try await session.get("/\(code.rawValue)") }
      #expect(error?.code == code)
      if code != .networkConnectionLost { #expect(error?.failingURL != nil) }
    }
  }

  @Test func sessionsKeepTheirCache() async throws {
    let origin = ScriptedUpstream([ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "one")])
    func makeSession() -> URLSession { TestCache(origin).session() }
    let session = makeSession()
    defer { session.finishTasksAndInvalidate() }
    for _ in 0..<2 { #expect(try await session.get("/").text == "one") }
    #expect(origin.requestCount == 1)
  }

  @Test func whatConfigurationsMadeIsFreedWithTheCache() async throws {
    weak var weakCache: HTTPCache?
    weak var weakOrigin: ScriptedUpstream?
    weak var weakSession: CachedURLSession?
    do {
      let test = TestCache([ScriptedResponse(body: "one")])
      weakCache = test.cache
      weakOrigin = test.origin
      let configurations = (0..<3).map { _ in test.configuration() }
      let type = try #require(configurations.last?.protocolClasses?.first as? CachingURLProtocol.Type)
      weakSession = CachedLoading.of(type)?.session
      #expect(weakSession != nil)
      let session = URLSession(configuration: configurations[0])
      _ = try await session.get("/")
      session.finishTasksAndInvalidate()
    }
    try await until { weakCache == nil && weakOrigin == nil && weakSession == nil }
  }

  @Test func sessionsThatGoOnDoNotKeepACacheWhoseCachingEnded() async throws {
    weak var weakCache: HTTPCache?
    let session: URLSession
    do {
      let test = TestCache([ScriptedResponse(body: "one")])
      weakCache = test.cache
      let configuration = test.configuration()
      session = URLSession(configuration: configuration)
      _ = try await session.get("/")
      configuration.endCaching()
    }
    try await until { weakCache == nil }
    session.finishTasksAndInvalidate()
  }

  @Test func nothingIsKeptOfWhatEnded() async throws {
    weak var weakCache: HTTPCache?
    weak var weakOrigin: ScriptedUpstream?
    do {
      let test = TestCache([ScriptedResponse(body: "one"), .failure(.unreachable)])
      weakCache = test.cache
      weakOrigin = test.origin
      let configuration = test.configuration()
      let session = URLSession(configuration: configuration)
      _ = try await session.get("/")
      _ = try? await session.get("/fails")
      session.finishTasksAndInvalidate()
      configuration.endCaching()
    }
    try await until { weakCache == nil && weakOrigin == nil }
  }
}
