import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// More fields than a head has, from arguments and the files that they name.
@Suite("Arguments with too many fields", .timeLimit(.minutes(10))) struct LongHeadTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func write(_ text: String) throws -> String { try directory.write(text.utf8, to: "file") }

  @Test("a file of -H with too many fields is refused", arguments: [[], ["--queue", "q"]])
  func headers(_ options: [String]) async throws {
    let path = try write(String(repeating: "X: y\n", count: 70_000))
    let run = await CommandRun.failure(
      .usage, ["get", "http://127.0.0.1:1/", "-H", "@\(path)", "--dir", directory.path("cache")] + options)
    #expect(run.errors.contains("-H takes at most 4096 fields (got 70000)"), "\(run.errors)")
  }

  @Test("a URL of a list with too many header= lines is left out with a note, and the others stay")
  func list() throws {
    let lines = String(repeating: "  header=X: y\n", count: 70_000)
    let file = try DownloadFile("http://a/1\nhttp://a/2\n\(lines)  out=b\nhttp://a/3\n", path: "list")
    #expect(file.entries.map(\.url) == ["http://a/1", "http://a/3"])
    #expect(file.notes == ["list, line 4099: more than 4096 header= lines; the URL is left out"])
  }

  @Test("the fields of -H and of a list together are one head")
  func together() async throws {
    let fields = try write(String(repeating: "X: y\n", count: HeaderArgument.most))
    let list = directory.path("list")
    let requests = try await ScriptedOrigin.requests { origin in
      let lines = String(repeating: "  header=Z: y\n", count: HeaderArgument.most)
      try directory.write("http://\(origin.authority)/\n  dir=\(directory.path)\n\(lines)".utf8, to: "list")
      await CommandRun.success(
        "get", "-H", "@\(fields)", "--input-file", list, "--dir", directory.path("cache"))
    }
    #expect(requests.first?.components(separatedBy: "Z: y").count == HeaderArgument.most + 1)
  }

  @Test("-b sends many cookies in one field", arguments: [[], ["--queue", "q"]])
  func cookies(_ options: [String]) async throws {
    let cookies = repeatElement("a=", count: 70_000).joined(separator: "; ")
    let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok"
    let requests = try await ScriptedOrigin.requests(answer) { origin in
      await CommandRun.success(
        ["get", origin.authority, "-b", cookies, "--dir", directory.path("cache")] + options)
    }
    #expect(requests.first?.lowercased().contains("cookie: \(cookies)\r\n") == true)
  }

  @Test("a list cannot ask for a part, as -H cannot", arguments: ["Range: bytes=0-1", "range:bytes=0-1"])
  func range(_ header: String) async throws {
    let path = try write("http://127.0.0.1:1/\n  header=\(header)\n")
    let run = await CommandRun("get", "--input-file", path, "--dir", directory.path("cache"))
    #expect(run.status == ExitStatus.usage.rawValue && run.errors.contains("line 2"), "\(run.errors)")
  }

  @Test("a configuration file sets a limited number of fields")
  func configuration() throws {
    let fields = (0...1_000).map { "    X-\($0): a" }
    let text = { (count: Int) in
      "upstream: http://127.0.0.1:1\nrequest-fields:\n  set:\n" + fields.prefix(count).joined(separator: "\n")
    }
    #expect(throws: ConfigFailure.self) { try ServeFile(try write(text(1_001))) }
    #expect(try ServeFile(try write(text(1_000))).routes.isEmpty)
  }
}
