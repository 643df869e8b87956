import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// The results of `prefetch` for each request.
@Suite(.timeLimit(.minutes(10))) struct SessionPrefetchTests {
  private func session(
    _ answer: @escaping @Sendable (ScriptedUpstream.Received) async -> ScriptedResponse
  ) throws -> (CachedURLSession, ScriptedUpstream) {
    let upstream = ScriptedUpstream(answer)
    let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
    let cache = try HTTPCache.open(HTTPCache.Configuration(clock: clock))
    return (CachedURLSession(cache: cache, via: upstream, configuration: .ephemeral), upstream)
  }

  private func requests(_ paths: [String]) throws -> [URLRequest] {
    try paths.map { URLRequest(url: try #require(URL(string: "http://a.test/\($0)"))) }
  }

  private func code(_ result: Result<CacheOutcome, any Error>) -> URLError.Code? {
    do {
      _ = try result.get()
      return nil
    } catch {
      return (error as? URLError)?.code
    }
  }

  @Test("each request has its result, in the order of the requests")
  func results() async throws {
    let (session, upstream) = try session { received in
      switch received.head.path {
      case "/down": .failure(.unreachable)
      case "/secret": ScriptedResponse(headers: ["Cache-Control": "no-store"], body: "text")
      default: ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "text")
      }
    }
    _ = try await session.data(for: try requests(["fresh"])[0])
    var all = try requests(["fresh", "new", "down", "secret"])
    all.append(URLRequest(url: URL(fileURLWithPath: "/a")))
    let results = await session.prefetch(all).value
    #expect(results.count == 5 && upstream.requestCount == 4)
    #expect(try results[0].get().isHit)
    guard case .forwarded(_, 200, .store, false) = try results[1].get(),
      case .forwarded(_, 200, .doNotStore, false) = try results[3].get()
    else {
      Issue.record("\(results)")
      return
    }
    #expect(code(results[2]) == .cannotConnectToHost)
    #expect(code(results[4]) == .unsupportedURL)
  }

  @Test("a cancelled prefetch starts no further request, and ends those that run")
  func cancels() async throws {
    let gate = Gate()
    let (session, upstream) = try session { _ in
      ScriptedResponse(
        head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
        steps: [.bytes(BodyBytes([1])), .wait(gate), .bytes(BodyBytes([2]))], announcedLength: 2)
    }
    let all = try requests((0..<9).map(String.init))
    let prefetch = session.prefetch(all)
    await upstream.waitForRequests(4)
    prefetch.cancel()
    let results = await prefetch.value
    #expect(upstream.requestCount == 4 && results.count == 9)
    #expect(results.allSatisfy { code($0) == .cancelled })
    gate.open()
  }
}
