import HTTPCacheTesting
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct RetryTests {
  private static func answer(_ status: Int, _ fields: String = "") -> [UInt8] {
    // The origin closes after each answer.
    Array("HTTP/1.1 \(status) X\r\n\(fields)Connection: close\r\nContent-Length: 2\r\n\r\nok".utf8)
  }

  private func get(
    _ arguments: String..., answer: @escaping @Sendable (String, Int) -> [UInt8]
  ) async throws -> (run: CommandRun, requests: [String], body: [UInt8]?) {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin(bytes: answer)
    let run = await CommandRun(
      ["get", "--dir", directory.path("cache"), origin.authority, "-o", directory.path("1")] + arguments)
    return (run, origin.texts, directory.file("1").bytes)
  }

  @Test(
    "statuses that may pass are tried again; the last answer is the one",
    arguments: [408, 429, 500, 502, 503, 504])
  func statuses(status: Int) async throws {
    let got = try await get("--retry", "3", "--retry-delay", "0", "-w", "%{num_retries}") { _, before in
      Self.answer(before < 2 ? status : 200)
    }
    #expect(got.run.status == 0)
    #expect(got.run.output == "2")
    #expect(got.requests.count == 3)
    #expect(got.run.errors.contains("status \(status); trying again now (1 of 3)"))
  }

  @Test("no other status is tried again, and not more often than asked for")
  func limits() async throws {
    let notFound = try await get("--retry", "3", "--retry-delay", "0") { _, _ in Self.answer(404) }
    #expect(notFound.requests.count == 1)
    let failing = try await get("--retry", "2", "--retry-delay", "0", "-f") { _, _ in Self.answer(503) }
    #expect(failing.requests.count == 3)
    #expect(failing.run.status == ExitStatus.httpError.rawValue)
    let never = try await get { _, _ in Self.answer(503) }
    #expect(never.requests.count == 1)
  }

  @Test("the content is sent again")
  func content() async throws {
    let got = try await get("--retry", "1", "--retry-delay", "0", "-d", "a=b") { _, before in
      Self.answer(before == 0 ? 503 : 200)
    }
    #expect(got.requests.count == 2)
    #expect(got.requests.allSatisfy { $0.hasSuffix("\r\n\r\na=b") })
  }

  @Test("a body that breaks off is tried again, and goes on where it was")
  func broken() async throws {
    let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nCache-Control: max-age=600\r\n"
    let got = try await get("--retry", "1", "--retry-delay", "0") { request, _ in
      request.lowercased().contains("range: bytes=5-")
        ? Array(
          ("HTTP/1.1 206 P\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n56789")
            .utf8)
        : Array((head + "Content-Length: 10\r\n\r\n01234").utf8)
    }
    #expect(got.run.status == 0, "\(got.run.errors)")
    #expect(got.requests.count == 2)
    #expect(got.body == Array("0123456789".utf8))
  }

  @Test("no connection is tried again")
  func refused() async throws {
    let directory = try ScratchFolder()
    let run = await CommandRun(
      "get", "http://127.0.0.1:1/", "--retry", "2", "--retry-delay", "0", "--dir", directory.path("cache"),
      "-w",
      "%{num_retries} %{http_code} %{exitcode}")
    #expect(run.status == ExitStatus.unreachable.rawValue)
    #expect(run.output == "2 000 3")
  }

  @Test("pauses double, Retry-After makes them longer, up to an hour, and the time that is left ends them")
  func pauses() {
    let rule = RetryBudget.Rule(count: 20)
    #expect(rule.pause(after: 0, elapsed: 0, retryAfter: nil) == 1)
    #expect(rule.pause(after: 3, elapsed: 0, retryAfter: nil) == 8)
    #expect(rule.pause(after: 19, elapsed: 0, retryAfter: nil) == 600)
    #expect(rule.pause(after: 20, elapsed: 0, retryAfter: nil) == nil)
    #expect(rule.pause(after: 0, elapsed: 0, retryAfter: 30) == 30)
    #expect(rule.pause(after: 0, elapsed: 0, retryAfter: 3_601) == 3_600)
    #expect(rule.pause(after: 0, elapsed: 0, retryAfter: Double(Int64.max)) == 3_600)
    let limited = RetryBudget.Rule(count: 20, delay: 2, maxTime: 10)
    #expect(limited.pause(after: 0, elapsed: 8, retryAfter: nil) == 2)
    #expect(limited.pause(after: 0, elapsed: 8.1, retryAfter: nil) == nil)
    #expect(limited.pause(after: 0, elapsed: 0, retryAfter: 11) == nil)
  }

  @Test("the time limit of a try begins anew with each try, and no time between them counts")
  func limitOfTry() async throws {
    let clock = ManualClock(now: Timestamp(seconds: 0))
    let budget = RetryBudget(.init(count: 1, delay: 100), clock: clock) { _ in }
    let limit = Task {
      try await budget.waitForTry(longerThan: .seconds(10))
      return clock.uptime
    }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(9))
    let wait = Task { try await budget.wait(for: "status 503") }
    await clock.waitForSleepers(2)
    // The limit of the first try passes while the second one has not begun.
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(99))
    #expect(try await wait.value)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(10))
    #expect(try await limit.value == .seconds(119))
  }

  @Test("Retry-After is seconds or a date", arguments: ["7", "Sun, 06 Nov 1994 08:49:44 GMT"])
  func retryAfter(value: String) async throws {
    let clock = ManualClock(now: Timestamp(seconds: 784_111_777))
    let waits = LineRecorder()
    let upstream = RetryingUpstream(
      base: ScriptedUpstream([ScriptedResponse(status: 503, headers: ["Retry-After": value])]),
      budget: RetryBudget(.init(count: 1, maxTime: 6), clock: clock) { waits.add($0) },
      content: nil, clock: clock)
    // The pause of seven seconds is longer than there is time, so that the answer stays the first.
    let response = try await upstream.send(
      UpstreamRequest(head: try TargetURL(parsing: "example.com").request()))
    #expect(response.head.status.code == 503)
    #expect(waits.lines.isEmpty)
  }
}
