import AsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import NIOPosix
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheAsyncHTTPClient

@Suite(.timeLimit(.minutes(10))) struct UploadTests {
  @Test("the limit counts from the last piece that the origin took, without the waits for the content")
  func progress() async {
    let loop = NIOAsyncTestingEventLoop()
    let watch = UploadWatch(limit: .seconds(10), on: loop)
    let (looks, looked) = AsyncStream.makeStream(of: Void.self)
    let isEnded = Atomic(false)
    let upload = Task {
      defer { isEnded.store(true, ordering: .sequentiallyConsistent) }
      try await loop.limited {
        looked.yield()
        return watch.timeLeft
      } _: {
        try await Gate().pass()
      }
    }
    for await _ in looks { break }
    for _ in 0..<3 {
      await loop.advanceTime(by: .seconds(9))
      watch.awaitsSource()
      await loop.advanceTime(by: .seconds(100))
      watch.awaitsOrigin()
    }
    await loop.advanceTime(by: .seconds(9))
    #expect(!isEnded.load(ordering: .sequentiallyConsistent) && watch.timeLeft == .seconds(1))
    while !isEnded.load(ordering: .sequentiallyConsistent) {
      await loop.advanceTime(by: .seconds(1))
      await Task.yield()
    }
    let error = await #expect(throws: HTTPClientError.self) { try await upload.value }
    #expect(error == .deadlineExceeded)
  }

  @Test("a request that has ended is not watched any more")
  func ended() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let looks = Counter()
    let answer = try await loop.limited {
      looks.increment()
      return .seconds(10)
    } _: {
      7
    }
    await loop.advanceTime(by: .seconds(20))
    #expect(answer == 7 && looks.value == 1)
  }

  @Test("an upload may take longer than the limit for the head")
  func longUpload() async throws {
    let routes = Routes()
    routes.put("up") { request, _ in
      answer(String(buffer: try await request.body.collect(upTo: 10)), [:])
    }
    try await CachedOrigin.run(routes) { origin async throws in
      try await withRisingLimits { limit async throws -> Bool in
        do {
          #expect(try await upload(to: origin.server.base, within: limit) == Array("ab".utf8))
          return true
        } catch let error as UpstreamError where error.kind == .timeout { return false }
      }
    }
  }

  /// Sends content whose second octet comes after three times the limit.
  private func upload(to origin: String, within limit: TimeAmount) async throws -> [UInt8] {
    let late = Gate()
    MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: limit * 3) { late.open() }
    var content = ScriptedResponse(chunks: ["a", "b"].map { BodyBytes(Array($0.utf8)) })
    content.announcedLength = 2
    let authority = String(origin.dropFirst("http://".count))
    var request = UpstreamRequest(
      head: HTTPRequest(method: .put, scheme: "http", authority: authority, path: "/up"))
    request.body = try await ScriptedUpstream([content.stalling(after: 1, at: late)]).send(request).body
    let upstream = AsyncHTTPClientUpstream(client: HTTPClient.shared, headTimeout: Duration(limit))
    return try await upstream.send(request).body.collect().array
  }
}
