import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The messages and reports of `get`.
@Suite(.timeLimit(.minutes(10))) struct GetReportTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func line(_ outcome: CacheOutcome, _ storage: StorageRecorder.Result? = nil, length: Int64? = nil)
    -> String
  {
    OutcomeText(outcome: outcome, storage: storage, length: length).line
  }

  private func json(_ run: CommandRun) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
  }

  @Test("a response that was stale is refetched, by how much it was stale")
  func refetched() {
    func outcome(_ reason: ValidationReason) -> CacheOutcome {
      .forwarded(.validation(reason), status: 200, storage: .store, collapsed: false)
    }
    let stored = StorageRecorder.Result.stored(bytes: 1)
    #expect(
      line(outcome(.stale(age: .seconds(316), lifetime: .seconds(100))), stored)
        == "refetched: stale by 216 s")
    #expect(
      line(outcome(.stale(age: .seconds(7300), lifetime: .seconds(100))), stored) == "refetched: stale by 2 h"
    )
    #expect(
      line(outcome(.responseNoCache), .notStored(.responseNoStore))
        == "refetched: no-cache in the response (RFC 9111 §5.2.2.4), not stored: no-store (RFC 9111 §5.2.2.5)"
    )
  }

  @Test("the report of a request that may not ask the origin says what forbids it")
  func unsatisfiable() async throws {
    #expect(
      line(.unsatisfiable(.miss(.absent)))
        == "not in the cache, and --policy cache-only forbids asking the origin")
    #expect(
      line(.unsatisfiable(.miss(.partial)))
        == "only a part is in the cache, and --policy cache-only forbids asking the origin")
    let run = await CommandRun(
      "get", "http://127.0.0.1:1/", "--dir", directory.path("cache"), "-H", "Cache-Control: only-if-cached")
    #expect(
      run.errors.contains("not in the cache, and only-if-cached in the request forbids asking the origin"))
  }

  @Test("a policy is spelled as its option is")
  func policies() {
    func miss(_ policy: CachePolicy) -> CacheOutcome {
      .forwarded(.miss(.policy(policy)), status: 200, storage: .doNotStore(.policy), collapsed: false)
    }
    #expect(line(miss(.bypass)) == "miss (--policy bypass), not stored: --policy bypass")
    #expect(line(miss(.reloadEverywhere)).hasPrefix("miss (--policy reload-everywhere)"))
    #expect(
      line(.hit(age: .seconds(9), lifetime: .seconds(5), allowance: .policy(.cacheElseNetwork)))
        == "hit, stale for 4 s, allowed: --policy cache-else-network")
    for argument in PolicyArgument.allCases {
      #expect(argument.policy.option == "--policy \(argument.rawValue)")
    }
  }

  @Test("the limit for a body is told in units that people read, with the options that change it")
  func tooLarge() {
    let outcome = CacheOutcome.forwarded(
      .miss(.absent), status: 200, storage: .doNotStore(.tooLarge(limit: 536_870_912)), collapsed: false)
    #expect(
      line(outcome, length: 1_503_238_553)
        == "miss, not stored: 1.4 GiB is over the limit of 512 MiB (--largest-entry, --capacity)")
    #expect(
      line(outcome) == "miss, not stored: it is over the limit of 512 MiB (--largest-entry, --capacity)")
  }

  @Test("the report of a continued transfer has the bytes of before and the fetched bytes")
  func continued() {
    var answer = TransferReport.Answer(
      status: 200, outcome: .forwarded(.miss(.partial), status: 206, storage: .store, collapsed: false),
      bytes: 1400 << 20, finalTarget: "http://a/", redirects: 0)
    answer.continuation = .init(bytes: 257 << 20, fetched: 1143 << 20)
    let report = TransferReport(url: "http://a/", elapsed: .zero, ending: .answered(answer))
    #expect(report.text == "continued: 257 MiB from the cache, 1.1 GiB fetched")
    #expect(report.json.continuedFrom == 257 << 20)
  }

  @Test(
    "numbers of bytes are told in groups",
    arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")])
  func groups(number: Int64, text: String) { #expect(HumanText.grouped(number) == text) }

  @Test("--json has the fields and the version of HTTP of the response")
  func json() async throws {
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=86400\r\nX-Two: 1\r\nx-two: 2\r\n\r\nok"
    )
    let first = try json(await CommandRun("get", origin.base, "--dir", directory.path("cache"), "--json"))
    let headers = try #require(first["headers"] as? [String: [String]])
    #expect(headers["x-two"] == ["1", "2"])
    #expect(headers["content-length"] == ["2"])
    #expect(first["httpVersion"] as? String == "1.1")
    let second = try json(await CommandRun("get", origin.base, "--dir", directory.path("cache"), "--json"))
    #expect(second["outcome"] as? String == "hit")
    #expect((second["headers"] as? [String: [String]])?["age"] != nil)
    // The cache does not keep the version of the message that filled it (RFC 9110 §2.5).
    #expect(second["httpVersion"] == nil)
  }

  @Test("an origin of HTTP/1.0 is told")
  func oldVersion() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let run = await CommandRun("get", origin.base, "--dir", directory.path("cache"), "--json")
    #expect(try json(run)["httpVersion"] as? String == "1.0")
  }

  @Test("--json and a body never share standard output", arguments: ["-", "/dev/stdout", "/dev/fd/1"])
  func jsonAndBody(path: String) async throws {
    let run = await CommandRun.failure(
      .usage, "get", "http://127.0.0.1:1/", "--dir", directory.path("cache"), "--json", "-o", path)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("--json writes its report to standard output"))
  }

  @Test("URLs that an interruption left unasked are counted")
  func interrupted() async throws {
    let origin = try await ScriptedOrigin { _ in
      .init(head: "HTTP/1.1 200 OK\r\nContent-Length: 9", body: [1], isHeld: true)
    }
    let urls = (1...3).map { origin.base + "/\($0)" }
    let task = Task { await CommandRun(["get", "--dir", directory.path("cache"), "--jobs", "1"] + urls) }
    try await eventually { !origin.requests.isEmpty }
    task.cancel()
    let run = await task.value.expect(.interrupted)
    #expect(run.errors.contains("\(urls[0]): interrupted"))
    #expect(run.errors.contains("httpcache: interrupted before 2 more URLs\n"))
  }
}
