import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The real command objects against an origin on the loopback interface.
@Suite(.timeLimit(.minutes(10))) struct GetTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  /// Runs `get`, with the file `file` for the body.
  private func get(_ url: String, to file: String = "1", _ options: String...) async -> CommandRun {
    await CommandRun(["get", url, "--dir", directory.path("cache"), "-o", directory.path(file)] + options)
  }

  @Test("a page is fetched once: a miss that is stored, then a fresh hit with the same bytes")
  func missThenHit() async throws {
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.page.rawValue
      let first = await get(url).expectSuccess()
      let second = await get(url, to: "2").expectSuccess()
      #expect(first.errors.contains(": miss, stored; \(DemoResource.page.block.count) B in "))
      #expect(second.errors.contains(": hit, fresh for "))
      #expect(origin.meter.requests == 1)
      #expect(directory.file("1").bytes == DemoResource.page.block)
      #expect(directory.file("2").bytes == DemoResource.page.block)
    }
  }

  @Test("another Host is another site: nothing of it is found by the URL")
  func otherHost() async throws {
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.page.rawValue
      let other = await get(url, "-H", "Host: other.example").expectSuccess()
      let own = await get(url, to: "2")
      #expect(other.errors.contains(": miss (its Host is not that of the URL), not stored: "))
      #expect(own.errors.contains(": miss, stored"))
      #expect(origin.meter.requests == 2)
    }
  }

  @Test("an API with no-cache and an ETag is validated each time")
  func validation() async throws {
    try await DemoOrigin.withOrigin { origin in
      let url = origin.base + DemoResource.api.rawValue
      _ = await get(url)
      let second = await get(url, to: "2")
      #expect(second.errors.contains(": revalidated, 304"))
      #expect(origin.meter.requests == 2)
      #expect(directory.file("2").bytes == DemoResource.api.block)
    }
  }

  // holds 9111-3-4
  @Test("a no-store document is never stored, and the line names the section")
  func noStore() async throws {
    try await DemoOrigin.withOrigin { origin in
      for _ in 0..<2 {
        let run = await get(origin.base + DemoResource.document.rawValue)
        #expect(run.errors.contains(": miss, not stored: no-store (RFC 9111 §5.2.2.5)"))
      }
      #expect(origin.meter.requests == 2)
    }
  }

  @Test("cache-only exits with its own status if nothing is stored, and asks no origin")
  func cacheOnly() async throws {
    try await DemoOrigin.withOrigin { origin in
      await get(origin.base + "/index.html", "--policy", "cache-only").expect(.notStored)
      #expect(origin.meter.requests == 0)
      #expect(directory.file("1").bytes == nil)
    }
  }

  @Test("--fail makes a 404 a failure and leaves its body out; without it there is a body")
  func httpError() async throws {
    try await DemoOrigin.withOrigin { origin in
      await get(origin.base + "/nothing", "--fail").expect(.httpError)
      #expect(directory.file("1").bytes == nil)
      let taken = await get(origin.base + "/nothing").expectSuccess()
      #expect(taken.errors.contains("status 404"))
      #expect(directory.file("1").bytes == [])
    }
  }

  @Test("several URLs are fetched at once, each with its line; -O names the files")
  func several() async throws {
    try await DemoOrigin.withOrigin { origin in
      let urls = [DemoResource.page, .image, .api].map { origin.base + $0.rawValue }
      let run = await CommandRun.success(
        ["get"] + urls + ["--dir", directory.path("cache"), "--json", "--jobs", "2"])
      let reports = run.output.split(separator: "\n")
      #expect(reports.count == 3)
      for url in urls { #expect(reports.contains { $0.contains("\"url\":\"\(url)\"") }) }
      #expect(reports.allSatisfy { $0.contains("\"outcome\":\"miss\"") && $0.contains("\"isStored\":true") })
    }
  }

  @Test("an unreachable, a silent and an interrupted origin have different exit statuses")
  func failures() async throws {
    let silent = try await ScriptedOrigin { _ in nil }
    await get(silent.base, "--max-time", "0.1").expect(.timeout)
    let port = try UnusedPort()
    await get(port.base).expect(.unreachable)
    let cut = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
    await get(cut.base).expect(.brokenProtocol)
    #expect(directory.file("1").bytes == nil)
    #expect(directory.namesBesideCache.isEmpty, "temporary files are left: \(directory.names)")
  }

  @Test("a file that cannot be written has a status of its own")
  func noFile() async throws {
    try await DemoOrigin.withOrigin { origin in
      _ = await get(origin.base + "/index.html", to: "no/such/folder").expect(.output)
    }
  }

  @Test(
    "a negative count, time or rate is refused with what is allowed",
    arguments: [
      ("-j", "--jobs must be from 1 to 256 (got -1)"),
      ("--parallel", "--jobs must be from 1 to 256 (got -1)"),
      ("-m", "--max-time must be above 0 and at most 1000000 seconds (got -1.0)"),
      ("--segments", "--segments must be from 1 to 16 (got -1)"),
      ("--retry", "--retry must be from 0 to 1000000 (got -1)"),
      ("--retry-delay", "--retry-delay must be from 0 to 1000000 seconds (got -1.0)"),
      ("--retry-max-time", "--retry-max-time must be from 0 to 1000000 seconds (got -1.0)"),
      ("--connect-timeout", "--connect-timeout must be above 0 and at most 1000000 seconds (got -1.0)"),
      ("--limit-rate", "expected bytes, such as 4096, 64M or 1.5G"),
    ])
  func negative(option: String, message: String) async {
    let run = await CommandRun.failure(.usage, "get", "http://127.0.0.1:1/", option, "-1")
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test("--include writes status and fields before the body")
  func include() async throws {
    try await DemoOrigin.withOrigin { origin in
      _ = await get(origin.base + "/api/status", "-i")
      let text = String(decoding: directory.file("1").bytes ?? [], as: UTF8.self)
      #expect(text.hasPrefix("HTTP 200 OK\n"))
      #expect(text.contains("\nETag: \"v1\"\n"))
      #expect(text.hasSuffix("\n\n{\"status\":\"fine\"}\n"))
    }
  }

  @Test("--explain prints the decisions about the request, then about the response")
  func explain() async throws {
    try await DemoOrigin.withOrigin { origin in
      let first = await get(origin.base + "/index.html", "--explain").expectSuccess()
      #expect(first.errors.contains("  What is done? forward: nothing stored (RFC 9111 §4)\n"))
      #expect(first.errors.hasSuffix("  Is it stored? yes (RFC 9111 §3)\n"))
      let second = await get(origin.base + "/index.html", "--explain")
      #expect(second.errors.contains("  What is done? reuse, fresh for "))
      #expect(!second.errors.contains("Is it stored?"))
    }
  }

  @Test("--explain with --json tells it in the report")
  func explainJSON() async throws {
    try await DemoOrigin.withOrigin { origin in
      let run = await CommandRun(
        "get", origin.base + "/account", "--dir", directory.path("cache"), "--explain", "--json")
      #expect(run.errors.isEmpty)
      #expect(run.output.contains("\"decision\":{\"action\":\"forward\""))
      #expect(run.output.contains("\"answer\":\"no: no-store\",\"question\":\"Is it stored?\""))
    }
  }

  @Test("the demo ends as it must")
  func demo() async {
    let run = await CommandRun("demo")
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains("% saved"))
  }
}
