import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Synchronization
import Testing

/// Requests as objects with completion handlers.
@Suite(.timeLimit(.minutes(10))) struct SessionTaskTests {
  private let gate = Gate()
  private let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
  private let upstream: ScriptedUpstream
  private let session: CachedURLSession
  private let request = URLRequest(url: URL(string: "http://a.test/x") ?? URL(fileURLWithPath: "/"))

  init() throws {
    let piece = BodyBytes([UInt8](repeating: 7, count: 1_000))
    upstream = ScriptedUpstream { [gate] _ in
      ScriptedResponse(
        head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
        steps: [.bytes(piece), .wait(gate), .bytes(piece)], announcedLength: 2_000)
    }
    session = CachedURLSession(
      cache: try HTTPCache.open(HTTPCache.Configuration(clock: clock)), via: upstream,
      configuration: .ephemeral)
  }

  /// The arguments of a completion handler.
  private struct End: Sendable {
    var data: Data?
    var response: URLResponse?
    var error: (any Error)?
  }

  /// Waits until a condition holds, or the time limit of the test passes.
  private func wait(_ condition: () -> Bool) async { try? await until(condition) }

  /// Makes a task, lets `control` use it, and waits for its handler.
  private func end(_ control: (CachedURLSessionTask) async -> Void) async -> (End, CachedURLSessionTask) {
    let (ends, continuation) = AsyncStream.makeStream(of: End.self)
    let task = session.dataTask(with: request) {
      continuation.yield(End(data: $0, response: $1, error: $2))
      continuation.finish()
    }
    await control(task)
    var all: [End] = []
    for await end in ends { all.append(end) }
    #expect(all.count == 1)
    return (all.first ?? End(), task)
  }

  @Test("a task starts with resume, and its progress and metrics follow the body")
  func loads() async throws {
    let (end, task) = await end { task in
      #expect(task.state == .suspended && upstream.requestCount == 0)
      task.resume()
      await wait { task.progress.completedUnitCount == 1_000 }
      #expect(task.state == .running && task.progress.totalUnitCount == 2_000)
      clock.advance(by: .seconds(2))
      gate.open()
    }
    #expect(end.data?.count == 2_000 && end.error == nil)
    #expect(task.state == .completed && task.progress.isFinished)
    #expect(task.metrics.countOfBytesReceived == 2_000)
    #expect(task.metrics.duration == .seconds(2) && task.metrics.timeToResponse == .zero)
    #expect(task.metrics.cacheOutcome == end.response?.cacheOutcome && end.response != nil)
    let (again, second) = await self.end { $0.resume() }
    #expect(again.data == end.data && upstream.requestCount == 1)
    guard case .hit = second.metrics.cacheOutcome else {
      Issue.record("\(String(describing: second.metrics.cacheOutcome))")
      return
    }
  }

  @Test("a suspended task reads nothing until it is resumed")
  func suspends() async {
    let (end, _) = await end { task in
      task.resume()
      await wait { task.progress.completedUnitCount == 1_000 }
      task.progress.pause()
      // Foundation calls the handlers of a progress on another thread.
      await wait { task.state == .suspended }
      gate.open()
      // No event tells that nothing is read: time for it shows a fault, and a busy machine can only hide one.
      for _ in 0..<1_000 { await Task.yield() }
      // One piece may have been asked for before the pause.
      #expect(task.state == .suspended)
      task.progress.resume()
    }
    #expect(end.data?.count == 2_000)
  }

  @Test("a cancelled task ends with URLError.cancelled, started or not", arguments: [true, false])
  func cancels(isStarted: Bool) async {
    let (end, task) = await end { task in
      if isStarted {
        task.resume()
        await wait { task.progress.completedUnitCount == 1_000 }
      }
      task.progress.cancel()
    }
    #expect((end.error as? URLError)?.code == .cancelled)
    #expect(end.data == nil && end.response == nil && task.state == .completed)
    #expect(upstream.requestCount == (isStarted ? 1 : 0))
  }

  @Test("a suspended task that is cancelled ends")
  func cancelsWhileSuspended() async {
    let (end, _) = await end { task in
      task.resume()
      await wait { task.progress.completedUnitCount == 1_000 }
      task.suspend()
      gate.open()
      task.cancel()
    }
    #expect((end.error as? URLError)?.code == .cancelled)
  }

  @Test("a download's file is there while the handler runs, and removed afterwards")
  func downloads() async throws {
    gate.open()
    let (files, continuation) = AsyncStream.makeStream(of: (URL, Int).self)
    session.downloadTask(with: request) { url, _, _ in
      if let url { continuation.yield((url, (try? Data(contentsOf: url))?.count ?? 0)) }
      continuation.finish()
    }.resume()
    var got: [(URL, Int)] = []
    for await file in files { got.append(file) }
    #expect(got.map(\.1) == [2_000])
    let url = try #require(got.first?.0)
    await wait { !FileManager.default.fileExists(atPath: url.path) }
  }

  @Test("an upload's content is sent")
  func uploads() async {
    gate.open()
    let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
    var request = request
    request.httpMethod = "PUT"
    session.uploadTask(with: request, from: Data("new".utf8)) { data, _, _ in
      continuation.yield(data?.count ?? -1)
      continuation.finish()
    }.resume()
    for await count in ends { #expect(count == 2_000) }
    #expect(upstream.requests.first?.body?.array == Array("new".utf8))
  }

  @Test("a request's own hook keeps its response out of the store")
  func hook() async throws {
    gate.open()
    let options = LoadOptions(willStore: StoringHook { _, _ in nil })
    for _ in 0..<2 { _ = try await session.data(for: request, options: options) }
    #expect(upstream.requestCount == 2)
    #expect(try session.refusals(of: request).count >= 1)
  }
}
