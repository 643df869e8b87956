import Foundation
import HTTPCacheTesting
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// A transfer that broke off goes on, whatever the limits of the cache.
@Suite(.timeLimit(.minutes(10))) struct ContinueTests {
  private static let content = ServedFile.bytes(100_000)
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func file(_ change: (inout ServedFile) -> Void = { _ in }) -> ServedFile {
    var file = ServedFile(content: Self.content)
    change(&file)
    return file
  }

  /// A file that is cut after some of it was written to the part file.
  private func cutFile(_ change: (inout ServedFile) -> Void) -> ServedFile {
    file {
      ($0.cut, $0.awaitedFile) = (40_000, directory.path("out.httpcache-part/body"))
      change(&$0)
    }
  }

  @Test("a stored response is continued from the cache, and no part is left beside the complete output")
  func fromCache() async throws {
    let fields = "Cache-Control: max-age=60"
    let origin = try await ScriptedOrigin(cutFile { $0.fields = fields }, file { $0.fields = fields })
    let first = await CommandRun.get(from: origin, in: directory).expect(.brokenProtocol)
    #expect(first.errors.contains(": the response ended after "))
    #expect(first.errors.contains(" of 100,000 bytes; they are kept, run again to continue\n"))
    #expect(directory.namesBesideCache == ["out.httpcache-part"])
    let second = await CommandRun.get(from: origin, in: directory).expectSuccess()
    let start = try #require(origin.requests.last?.start)
    #expect(
      second.errors.contains(
        ": continued: \(HumanText.bytes(Int64(start))) from the cache, "
          + "\(HumanText.bytes(Int64(100_000 - start))) fetched; 97.7 KiB in "))
    #expect(directory.file("out").bytes == Self.content)
    #expect(directory.namesBesideCache == ["out"])
  }

  @Test(
    "what the cache does not store is continued from the part file",
    arguments: ["Cache-Control: no-store", "Cache-Control: max-age=60"])
  func fromPart(fields: String) async throws {
    // The second kind is over the limit of the cache.
    let limit = fields.contains("no-store") ? "50%" : "50K"
    let origin = try await ScriptedOrigin(cutFile { $0.fields = fields }, file { $0.fields = fields })
    let part = directory.path("out.httpcache-part")
    let first = await CommandRun.get(from: origin, in: directory, options: ["--largest-entry", limit])
    #expect(first.errors.contains(" of 100,000 bytes; they are kept in \(part), run again to continue\n"))
    #expect(directory.namesBesideCache == ["out.httpcache-part"])
    let second = await CommandRun.get(from: origin, in: directory, options: ["--largest-entry", limit])
      .expectSuccess()
    let start = try #require(origin.requests.last?.start)
    #expect(
      second.errors.contains(
        ": continued: \(HumanText.bytes(Int64(start))) from \(part), "
          + "\(HumanText.bytes(Int64(100_000 - start))) fetched; 97.7 KiB in "))
    #expect(directory.file("out").bytes == Self.content)
    #expect(origin.requests.last?.fields["if-range"] == "\"v1\"")
    #expect(directory.namesBesideCache == ["out"])
  }

  @Test("a response that is too large for the cache is reported before its body, with the options")
  func tooLarge() async throws {
    let origin = try await ScriptedOrigin(file { $0.fields = "Cache-Control: max-age=60" }, file())
    let run = await CommandRun.get(from: origin, in: directory, options: ["--largest-entry", "50K"])
    let notice = "97.7 KiB is over the limit of 50.0 KiB (--largest-entry, --capacity)"
    let lines = run.errors.split(separator: "\n")
    #expect(lines.first?.hasSuffix("/file: it will not be cached: \(notice)") == true)
    #expect(lines.last?.contains(": miss, not stored: \(notice); 97.7 KiB in ") == true)
    #expect(
      await !CommandRun.get(from: origin, in: directory, options: ["--largest-entry", "50K", "--quiet"])
        .errors
        .contains("cached"))
  }

  @Test("a representation that has changed begins anew and says so")
  func changed() async throws {
    let other = Array(Self.content.reversed())
    let origin = try await ScriptedOrigin(
      cutFile { $0.fields = "Cache-Control: no-store" },
      file { ($0.content, $0.tag) = (other, "\"v2\"") })
    _ = await CommandRun.get(from: origin, in: directory)
    let second = await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(second.errors.contains("begun anew: the response has changed since its first part came"))
    #expect(directory.file("out").bytes == other)
    #expect(directory.namesBesideCache == ["out"])
  }

  @Test("a shorter representation under the validator of the part is an error, and a reload begins anew")
  func shorter() async throws {
    let origin = try await ScriptedOrigin(
      cutFile { $0.fields = "Cache-Control: no-store" },
      file { $0.content = Array(Self.content.prefix(10)) })
    _ = await CommandRun.get(from: origin, in: directory)
    let second = await CommandRun.get(from: origin, in: directory)
    #expect(second.status != 0)
    #expect(
      second.errors.contains(
        "the origin sends 10 bytes under the validator of 100000 bytes; --policy reload begins anew"),
      "\(second.errors)")
    #expect(directory.file("out").bytes == nil)
    await CommandRun.get(from: origin, in: directory, options: ["--policy", "reload"]).expectSuccess()
    #expect(directory.file("out").bytes == Array(Self.content.prefix(10)))
    #expect(origin.requests.map { $0.start != nil } == [false, true, false, false])
  }

  @Test("a 206 of another representation is not used, even where the origin calls it the rest")
  func wrongRest() async throws {
    let first = cutFile { $0.fields = "Cache-Control: no-store" }
    let second = file { ($0.content, $0.tag) = (Array(Self.content.reversed()), "\"v2\"") }
    let origin = try await ScriptedOrigin { request in
      if request.number == 0 { return first.answer(request) }
      if request.number == 2 { return second.answer(request) }
      let start = request.start ?? 0
      return .init(
        head: "HTTP/1.1 206 Part\r\nContent-Range: bytes \(start)-99999/100000\r\n"
          + "Content-Length: \(100_000 - start)\r\nETag: \"v2\"", body: Array(second.content[start...]))
    }
    _ = await CommandRun.get(from: origin, in: directory)
    await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(directory.file("out").bytes == second.content)
    #expect(origin.requests.map { $0.start != nil } == [false, true, false])
  }

  @Test("an origin without ranges begins anew")
  func noRanges() async throws {
    let fields = "Cache-Control: no-store"
    let origin = try await ScriptedOrigin(
      cutFile { $0.fields = fields }, file { ($0.fields, $0.hasRanges) = (fields, false) })
    _ = await CommandRun.get(from: origin, in: directory)
    let run = await CommandRun.get(from: origin, in: directory)
    #expect(run.errors.contains("begun anew: the origin does not continue responses"))
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("without a strong validator nothing is kept, and the message says why")
  func weak() async throws {
    let weak = cutFile { $0.tag = "W/\"v1\"" }
    let origin = try await ScriptedOrigin(weak, weak)
    let run = await CommandRun.get(from: origin, in: directory)
    #expect(
      run.errors.contains(
        " of 100,000 bytes; nothing is kept: "
          + "a response without a strong ETag or Last-Modified, or of an origin without ranges, cannot be continued"
      ))
    #expect(directory.namesBesideCache.isEmpty)
  }

  @Test("an error in place of the rest keeps the part, and touches no file")
  func unavailable() async throws {
    let first = cutFile { $0.fields = "Cache-Control: no-store" }
    let whole = file { $0.fields = "Cache-Control: no-store" }
    let origin = try await ScriptedOrigin { request in
      switch request.number {
      case 0: first.answer(request)
      case 1, 2: .init(head: "HTTP/1.1 503 Busy\r\nContent-Length: 5", body: Array("sorry".utf8))
      default: whole.answer(request)
      }
    }
    _ = await CommandRun.get(from: origin, in: directory)
    let failed = await CommandRun.get(from: origin, in: directory).expect(.httpError)
    #expect(
      failed.errors.contains(
        " of 97.7 KiB kept in \(directory.path("out.httpcache-part")), run again to continue"))
    #expect(failed.errors.contains(": status 503 in place of the rest of the response; "))
    #expect(directory.file("out").bytes == nil)
    let run = await CommandRun.get(from: origin, in: directory)
    #expect(run.errors.contains(": continued: "))
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("a range that the caller asked for, and a head in the output, are not continued")
  func others() async throws {
    let cut = cutFile { $0.fields = "Cache-Control: no-store" }
    let origin = try await ScriptedOrigin(cut, cut)
    for options in [["-H", "Range: bytes=10-"], ["-i"]] {
      _ = await CommandRun.get(from: origin, in: directory, options: options)
      #expect(directory.namesBesideCache.isEmpty)
    }
  }

  @Test("a body without a length that breaks off is continued")
  func chunked() async throws {
    let whole = file { $0.fields = "Cache-Control: no-store" }
    let origin = try await ScriptedOrigin { request in
      guard request.number == 0 else { return whole.answer(request) }
      return .init(
        head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\nCache-Control: no-store",
        body: Array("9c40\r\n".utf8) + Self.content.prefix(40_000) + Array("\r\n".utf8))
    }
    let first = await CommandRun.get(from: origin, in: directory)
    #expect(first.errors.contains(" bytes, before its end; they are kept in "))
    await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("the message of a time limit names the option and the bytes that are kept")
  func timeLimit() async throws {
    let held = file { ($0.cut, $0.isHeld, $0.fields) = (40_000, true, "Cache-Control: max-age=60") }
    let origin = try await ScriptedOrigin(held, held)
    let clock = ManualClock(now: SystemClock().now)
    async let end = CommandEnvironment.$clock.withValue(clock) {
      await CommandRun.get(from: origin, in: directory, options: ["--max-time", "4"])
    }
    try await eventually { directory.file("out.httpcache-part/body").bytes?.count == 40_000 }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(4))
    let run = await end.expect(.timeout)
    #expect(run.errors.contains(": not complete within 4.0 s (--max-time); "))
    #expect(run.errors.contains(" of 97.7 KiB kept, run again to continue"))
  }
}
