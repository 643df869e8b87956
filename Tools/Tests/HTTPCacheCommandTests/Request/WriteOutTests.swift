import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct WriteOutTests {
  private static let answer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-A: b\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok"

  private func get(_ arguments: String..., answer: String = answer) async throws -> (
    run: CommandRun, url: String
  ) {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin(answer)
    let run = await CommandRun(
      ["get", "-s", "--dir", directory.path("cache"), origin.authority, "-o", directory.path("1")] + arguments
    )
    return (run, "http://\(origin.authority)")
  }

  @Test("-w writes curl's variables, and the outcome of the cache")
  func variables() async throws {
    let (run, url) = try await get(
      "-w",
      #"%{http_code} %{response_code} %{size_download} %{content_type} %{num_redirects} %{method} %{scheme}\t%%\n"#
        + #"%header{x-a} %{cache_status} %{cache_stored} %{url_effective} %{exitcode}[%{errormsg}]"#)
    #expect(
      run.output == "200 200 2 text/plain 0 GET HTTP\t%\nb miss true \(url)/ 0[]",
      "\(run.output)\(run.errors)")
  }

  @Test("%{url_effective} keeps the fragment of the URL, as in curl")
  func fragment() async throws {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin(Self.answer)
    let run = await CommandRun(
      "get", "-s", "--dir", directory.path("cache"), origin.base + "/a#b", "-o", directory.path("1"), "-w",
      "%{url} %{url_effective}")
    #expect(run.output == "\(origin.base)/a#b \(origin.base)/a#b", "\(run.output)\(run.errors)")
    #expect(origin.requests.first?.line == "GET /a HTTP/1.1")
  }

  @Test("times are seconds with six digits")
  func time() async throws {
    let (run, _) = try await get("-w", "%{time_total}")
    #expect(run.output.wholeMatch(of: /\d+\.\d{6}/) != nil)
  }

  @Test("%{json} and %{header_json} are JSON")
  func json() async throws {
    let (run, _) = try await get("-w", #"%{json}\n%{header_json}"#)
    let lines = run.output.split(separator: "\n")
    let values =
      try JSONSerialization.jsonObject(with: Data(try #require(lines.first).utf8)) as? [String: Any]
    #expect(values?["http_code"] as? Int == 200)
    #expect(values?["cache_status"] as? String == "miss")
    #expect(values?.count == WriteOut.Variable.allCases.count - 2)
    let fields =
      try JSONSerialization.jsonObject(with: Data(try #require(lines.last).utf8)) as? [String: [String]]
    #expect(fields?["x-a"] == ["b"])
  }

  @Test("%{stderr} turns to standard error, %{stdout} back")
  func outputs() async throws {
    let (run, _) = try await get("-w", "a%{stderr}b%{stdout}c")
    #expect(run.output == "ac")
    #expect(run.errors == "b")
  }

  @Test("@FILE holds the format")
  func file() async throws {
    let directory = try ScratchFolder()
    try directory.write("%{http_code}!".utf8, to: "format")
    #expect(try await get("-w", "@" + directory.path("format")).run.output == "200!")
  }

  @Test("a variable that is not known is a usage error, before anything is asked")
  func unknown() async throws {
    let (run, _) = try await get("-w", "%{nope}")
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.contains("--write-out: %{nope} is not known; known are cache_status, "))
  }
}
