import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

/// How responses reach delegates, completion handlers and `async` calls.
@Suite(.timeLimit(.minutes(10))) struct ProtocolDeliveryTests {
  private let pieces = (0..<5).map { BodyBytes(Array(repeating: UInt8($0), count: 1000)) }
  private var whole: Data { Data(pieces.flatMap(\.array)) }

  @Test func completionHandlerGetsAllPieces() async throws {
    let test = TestCache([ScriptedResponse(chunks: pieces)])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    let received = Received<Data?>()
    session.dataTask(with: TestCache.url("/")) { data, _, _ in received.take(data) }.resume()
    #expect(await received.value == whole)
  }

  @Test func asyncCallGetsAllPiecesWhereTheSessionHasADelegate() async throws {
    let test = TestCache([ScriptedResponse(chunks: pieces)])
    let session = test.session(delegate: DelegateLog())
    defer { session.finishTasksAndInvalidate() }
    let (data, _) = try await session.data(from: TestCache.url("/"))
    #expect(data == whole)
  }

  @Test func delegateGetsPiecesAsTheyArrive() async throws {
    let gate = Gate()
    let test = TestCache([ScriptedResponse(chunks: pieces).stalling(after: 2, at: gate)])
    let log = DelegateLog()
    let session = test.session(delegate: log)
    defer { session.finishTasksAndInvalidate() }
    session.dataTask(with: TestCache.url("/")).resume()
    await log.wait { $0.data.count == 2000 }
    #expect(log.now.responses.count == 1)
    #expect(!log.now.isComplete)
    gate.open()
    await log.wait { $0.isComplete }
    #expect(log.now.error == nil)
    #expect(log.now.data == whole)
  }

  @Test func delegateGetsLongBodiesWholeAndInOrder() async throws {
    let long = (0..<20).map { BodyBytes(Array(repeating: UInt8($0), count: 128 << 10)) }
    let test = TestCache([
      ScriptedResponse(headers: ["Cache-Control": "max-age=60"], chunks: long)
    ])
    for _ in 0..<2 {
      let log = DelegateLog()
      let session = test.session(delegate: log)
      session.dataTask(with: TestCache.url("/")).resume()
      await log.wait { $0.isComplete }
      session.finishTasksAndInvalidate()
      #expect(log.now.error == nil)
      #expect(log.now.data == Data(long.flatMap(\.array)))
    }
    #expect(test.origin.requestCount == 1)
  }

  @Test func nextRequestIsAnsweredByTheCache() async throws {
    let test = TestCache([
      ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "one")
    ])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    let first = try await session.get("/")
    let second = try await session.get("/")
    #expect(!first.outcome.isHit)
    #expect(second.outcome.isHit)
    #expect(second.text == "one")
    #expect(second.response.value(forHTTPHeaderField: "Age") == "0")
    #expect(second.response.url == TestCache.url("/"))
  }

  @Test func emptyBodiesAndBareHeadsEnd() async throws {
    let test = TestCache([
      ScriptedResponse(status: 204), ScriptedResponse(headers: ["Content-Length": "7"]),
      ScriptedResponse(status: 200),
    ])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    #expect(try await session.get("/none").response.statusCode == 204)
    let head = try await session.get(TestCache.request("/head", method: "HEAD"))
    #expect(head.response.value(forHTTPHeaderField: "Content-Length") == "7")
    #expect(try await session.get("/empty").text == "")
  }

  @Test func bodyBeyondTheLimitIsAClearError() async throws {
    let test = TestCache([
      ScriptedResponse(body: String(repeating: "a", count: 11)), ScriptedResponse(chunks: pieces),
      ScriptedResponse(body: "1234567890"),
    ])
    let session = URLSession(configuration: test.configuration(bodyLimit: 10))
    defer { session.finishTasksAndInvalidate() }
    for path in ["/announced", "/not"] {
      let error = await #expect(throws: URLError.self) { try await session.get(path) }
      #expect(error?.code == .dataLengthExceedsMaximum)
      #expect(error?.localizedDescription.contains("10 bytes") == true)
    }
    #expect(try await session.get("/fits").text == "1234567890")
  }

  @Test func redirectsAreFollowedInside() async throws {
    let test = TestCache([
      ScriptedResponse(status: 302, headers: ["Location": "/b?x"]), ScriptedResponse(body: "there"),
    ])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    let answer = try await session.get("/a")
    #expect(answer.text == "there")
    #expect(answer.response.url == TestCache.url("/b?x"))
    #expect(answer.response.cacheRedirects.count == 1)
  }

  #if canImport(FoundationNetworking)
    private static let challengeField = "X-WWW-Authenticate"
  #else
    private static let challengeField = "WWW-Authenticate"
  #endif

  @Test func unauthorizedIsAResponse() async throws {
    for challenge in ["Basic realm=\"x\"", "Digest nonce=\"1\"", "Bearer", ""] {
      let test = TestCache([
        ScriptedResponse(status: 401, headers: ["WWW-Authenticate": challenge], body: "who?")
      ])
      let session = test.session()
      defer { session.finishTasksAndInvalidate() }
      let answer = try await session.get("/")
      #expect(answer.response.statusCode == 401)
      #expect(answer.text == "who?")
      #expect(answer.response.value(forHTTPHeaderField: Self.challengeField) == challenge)
    }
  }

  @Test func conditionsOfTheCallerAreAnswered() async throws {
    let test = TestCache([
      ScriptedResponse(headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: "one")
    ])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    _ = try await session.get("/")
    let same = try await session.get(
      TestCache.request("/", .useProtocolCachePolicy, ["If-None-Match": "\"a\""]))
    #expect(same.response.statusCode == 304)
    let part = try await session.get(
      TestCache.request("/", .useProtocolCachePolicy, ["Range": "bytes=1-"]))
    #expect(part.response.statusCode == 206)
    #expect(part.text == "ne")
  }
}
