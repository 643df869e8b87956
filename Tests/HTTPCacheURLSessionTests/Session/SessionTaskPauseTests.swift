import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Bodies of suspended tasks.
@Suite(.timeLimit(.minutes(10))) struct SessionTaskPauseTests {
  @Test("a suspended task reads at most the piece that it has asked for")
  func holdsBack() async throws {
    let gate = Gate()
    let piece = BodyBytes([UInt8](repeating: 7, count: 1_000))
    let upstream = ScriptedUpstream { _ in
      ScriptedResponse(
        head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
        steps: [.bytes(piece), .wait(gate)] + [ScriptedResponse.Step](repeating: .bytes(piece), count: 9),
        announcedLength: 10_000)
    }
    let session = CachedURLSession(
      cache: try HTTPCache.open(HTTPCache.Configuration()), via: upstream, configuration: .ephemeral)
    let url = try #require(URL(string: "http://a.test/x"))
    let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
    let task = session.dataTask(with: url) { data, _, _ in
      continuation.yield(data?.count ?? -1)
      continuation.finish()
    }
    task.resume()
    try await until { task.metrics.countOfBytesReceived == 1_000 }
    task.suspend()
    gate.open()
    // No event tells that nothing more is read: time for it shows a fault, and a busy machine can only hide one.
    for _ in 0..<5_000 { await Task.yield() }
    #expect(task.metrics.countOfBytesReceived <= 2_000 && task.state == .suspended)
    task.resume()
    for await count in ends { #expect(count == 10_000) }
    #expect(task.metrics.countOfBytesFromOrigin == 10_000 && task.progress.isFinished)
  }
}
