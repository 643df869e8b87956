import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("The time of a file that get writes", .timeLimit(.minutes(10))) struct FileTimeTests {
  private static let content = ServedFile.bytes(50_000)
  private static let modified = Date(timeIntervalSince1970: 1_600_000_000)
  private static let field = "\r\nLast-Modified: Sun, 13 Sep 2020 12:26:40 GMT"
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func time(_ name: String = "out") throws -> Date? {
    try FileManager.default.attributesOfItem(atPath: directory.path(name))[.modificationDate] as? Date
  }

  @Test("is that of the representation, from the origin and from the cache")
  func whole() async throws {
    let file = ServedFile(content: Self.content, fields: "Cache-Control: max-age=86400" + Self.field)
    let origin = try await ScriptedOrigin { file.answer($0) }
    for _ in 0..<2 {
      await CommandRun.get(from: origin, in: directory).expectSuccess()
      #expect(try time() == Self.modified)
      directory.remove("out")
    }
    #expect(origin.requests.count == 1)
  }

  @Test(
    "is that of the representation if a 206 without Last-Modified continues it, beside the file or in the cache",
    arguments: ["no-store", "max-age=86400"])
  func continued(directive: String) async throws {
    let fields = "Cache-Control: \(directive)"
    let first = ServedFile(content: Self.content, fields: fields + Self.field, cut: 20_000)
    let rest = ServedFile(content: Self.content, fields: fields)
    let origin = try await ScriptedOrigin(first, rest)
    #expect(await CommandRun.get(from: origin, in: directory).status != 0)
    await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(directory.file("out").bytes == Self.content)
    #expect(origin.requests.last?.start != nil)
    #expect(try time() == Self.modified)
  }

  @Test(
    "is that of writing with --no-remote-time, and without a Last-Modified that is a date",
    arguments: [(["--no-remote-time"], field), ([], ""), ([], "\r\nLast-Modified: yesterday")])
  func written(options: [String], field: String) async throws {
    let file = ServedFile(content: Self.content, fields: "Cache-Control: max-age=86400" + field)
    let origin = try await ScriptedOrigin { file.answer($0) }
    let start = Date()
    await CommandRun.get(from: origin, in: directory, options: options).expectSuccess()
    // The file system's clock is a few milliseconds late.
    #expect(try #require(try time()) > start - 10)
  }

  @Test("is that of the representation if the response names the file (-J)")
  func named() async throws {
    let file = ServedFile(
      content: Self.content,
      fields: "Cache-Control: max-age=60\r\nContent-Disposition: attachment; filename=given" + Self.field)
    let origin = try await ScriptedOrigin { file.answer($0) }
    let run = try await CommandProcess(
      ["get", origin.base + "/file", "--dir", directory.path("cache"), "-O", "-J"], in: directory
    ).end()
    #expect(run.status == 0, "\(run.errors)")
    #expect(try time("given") == Self.modified)
  }
}
