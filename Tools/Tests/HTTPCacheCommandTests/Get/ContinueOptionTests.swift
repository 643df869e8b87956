import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Transfers that are continued, together with options that change what is asked for or written.
@Suite(.timeLimit(.minutes(10))) struct ContinueOptionTests {
  private static let content = ServedFile.bytes(60_000)
  private static let noStore = "Cache-Control: no-store"
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  /// Cuts the first answer; with `writing`, after some of it was written to the part file.
  private func origin(
    _ file: ServedFile, cut: Int = 40_000, writing: ScratchFolder? = nil
  ) async throws -> ScriptedOrigin {
    var first = file
    first.cut = cut
    first.awaitedFile = writing?.path("out.httpcache-part/body")
    return try await ScriptedOrigin(first, file)
  }

  // MARK: Content codings

  @Test("a body in gzip that is not stored leaves no part file, and is fetched anew")
  func gzip() async throws {
    let file = ServedFile(
      content: CompressedTests.member(Self.content), fields: "Content-Encoding: gzip\r\n" + Self.noStore)
    let origin = try await origin(file, writing: directory)
    let first = await CommandRun.get(from: origin, in: directory).expect(.brokenProtocol)
    #expect(
      first.errors.contains(
        "nothing is kept: a response in a content coding (gzip) is not continued; "
          + "--no-compressed asks for it without"), "\(first.errors)")
    #expect(directory.namesBesideCache.isEmpty)
    await CommandRun.get(from: origin, in: directory).expectSuccess()
    #expect(origin.requests.last?.fields["range"] == nil)
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("a body in gzip that is stored is continued in the cache, and decoded from its beginning")
  func storedGzip() async throws {
    let file = ServedFile(
      content: CompressedTests.member(Self.content),
      fields: "Content-Encoding: gzip\r\nCache-Control: max-age=60")
    let origin = try await origin(file, writing: directory)
    _ = await CommandRun.get(from: origin, in: directory)
    let second = await CommandRun.get(from: origin, in: directory).expectSuccess()
    let start = try #require(origin.requests.last?.start)
    #expect(second.errors.contains(": continued: \(HumanText.bytes(Int64(start))) from the cache, "))
    #expect(directory.file("out").bytes == Self.content)
    #expect(directory.namesBesideCache == ["out"])
  }

  @Test("a part without a coding is not continued with octets of a stored body in gzip")
  func variants() async throws {
    let plain = ServedFile(content: Self.content, fields: Self.noStore, cut: 40_000)
    let gzip = ServedFile(
      content: CompressedTests.member(Self.content),
      fields: "Content-Encoding: gzip\r\nCache-Control: max-age=60")
    let whole = ServedFile(content: Self.content, fields: Self.noStore)
    let origin = try await ScriptedOrigin { request in
      [plain, gzip, whole][min(request.number, 2)].answer(request)
    }
    _ = await CommandRun.get(from: origin, in: directory, options: ["--no-compressed"])
    _ = await CommandRun(
      "get", origin.base + "/file", "--dir", directory.path("cache"), "-o", directory.path("other"))
    #expect(directory.file("other").bytes == Self.content)
    await CommandRun.get(from: origin, in: directory, options: ["--no-compressed"]).expectSuccess()
    #expect(directory.file("out").bytes == Self.content)
  }

  @Test("the report of a body that is not gzip does not say that bytes are kept")
  func broken() async throws {
    let file = ServedFile(
      content: Self.content, fields: "Content-Encoding: gzip\r\nCache-Control: max-age=60")
    let origin = try await ScriptedOrigin { file.answer($0) }
    let run = await CommandRun.get(from: origin, in: directory)
    #expect(run.errors.hasSuffix("the body is not the gzip that its Content-Encoding says\n"))
  }

  @Test(
    "a response without a representation leaves the file alone",
    arguments: [("304 No", [], 6), ("101 Other", [], 6), ("304 No", ["-H", "If-None-Match: \"1\""], 0)])
  func noRepresentation(_ line: String, _ options: [String], _ status: Int32) async throws {
    try directory.write("precious".utf8, to: "out")
    let origin = try await ScriptedOrigin { _ in .init(head: "HTTP/1.1 \(line)") }
    let run = await CommandRun.get(from: origin, in: directory, options: options)
    #expect(run.status == status, "\(run.errors)")
    #expect(directory.file("out").bytes == Array("precious".utf8))
  }

  // MARK: Other options

  @Test("--retry continues from the part file")
  func retry() async throws {
    let origin = try await origin(
      ServedFile(content: Self.content, fields: Self.noStore), writing: directory)
    let options = ["--retry", "1", "--retry-delay", "0", "-w", "%{num_retries} %{size_download}"]
    let run = await CommandRun.get(from: origin, in: directory, options: options).expectSuccess()
    let start = try #require(origin.requests.last?.start)
    #expect(run.output == "1 \(Self.content.count - start)")
    #expect(directory.file("out").bytes == Self.content)
    #expect(directory.namesBesideCache == ["out"])
  }

  @Test("--retry does not repeat bytes that a reader has received")
  func retryOfStream() async throws {
    let content = Array(Self.content.prefix(2000))
    let origin = try await origin(ServedFile(content: content, fields: Self.noStore), cut: 1000)
    let output = Pipe()
    await CommandRun.failure(
      .brokenProtocol, "get", origin.base + "/file", "--dir", directory.path("cache"), "--retry", "2",
      "--retry-delay", "0", "-o", "/dev/fd/\(output.fileHandleForWriting.fileDescriptor)")
    try output.fileHandleForWriting.close()
    #expect(origin.requests.count == 1)
    let got = output.fileHandleForReading.readDataToEndOfFile()
    #expect(Array(content.prefix(got.count)) == Array(got) && got.count <= 1000)
  }

  @Test("bytes that came without a check of certificates are not continued with a check, and the reverse")
  func insecure() async throws {
    for (first, second) in [(["-k"], []), ([], ["-k"]), (["-k"], ["-k"])] as [([String], [String])] {
      let directory = try ScratchFolder()
      let origin = try await origin(
        ServedFile(content: Self.content, fields: Self.noStore), writing: directory)
      for options in [first, second] {
        _ = await CommandRun.get(from: origin, in: directory, options: options)
      }
      #expect((origin.requests.last?.start != nil) == (first == second))
      #expect(directory.file("out").bytes == Self.content)
    }
  }

  @Test("with -I and with content no part file is made")
  func others() async throws {
    for options in [["-d", "a=b"], ["-I"], ["-r", "0-50000"]] {
      let directory = try ScratchFolder()
      let origin = try await origin(ServedFile(content: Self.content, fields: Self.noStore))
      _ = await CommandRun.get(from: origin, in: directory, options: options)
      #expect(!directory.namesBesideCache.contains("out.httpcache-part"))
    }
  }

  // MARK: -J

  private func named(
    _ origin: ScriptedOrigin, _ paths: String...
  ) async throws -> (status: Int32, errors: String) {
    let urls = paths.map { origin.base + $0 }
    return try await CommandProcess(
      ["get"] + urls + ["--dir", directory.path("cache"), "-O", "-J"], in: directory
    ).end()
  }

  @Test("-J continues from a part file that has the URL's name, and keeps the first response's name")
  func named() async throws {
    // The folder has the name from the URL.
    try directory.makeFolder("file")
    let name = "\r\nContent-Disposition: attachment; filename=given"
    let first = ServedFile(content: Self.content, fields: Self.noStore + name, cut: 40_000)
    let second = ServedFile(content: Self.content, fields: Self.noStore)
    let origin = try await ScriptedOrigin(first, second)
    _ = try await named(origin, "/file")
    #expect(directory.namesBesideCache == ["file", "file.httpcache-part"])
    let run = try await named(origin, "/file")
    #expect(run.status == 0, "\(run.errors)")
    #expect(origin.requests.last?.start != nil)
    #expect(directory.file("given").bytes == Self.content)
    #expect(directory.namesBesideCache == ["file", "given"])
  }

  @Test("-J overwrites neither a file nor a link that leads to nothing, and leaves no part file")
  func taken() async throws {
    try FileManager.default.createSymbolicLink(
      atPath: directory.path("given"), withDestinationPath: directory.path("nothing"))
    let file = ServedFile(
      content: Self.content, fields: "Content-Disposition: attachment; filename=given")
    let origin = try await ScriptedOrigin { file.answer($0) }
    let run = try await named(origin, "/file")
    #expect(run.status == ExitStatus.output.rawValue)
    #expect(run.errors.contains("-J does not overwrite given: the file exists"), "\(run.errors)")
    #expect(directory.namesBesideCache == ["given"])
  }

  @Test("-J gives one name to one of two transfers, and keeps the body of the other")
  func twice() async throws {
    let file = ServedFile(
      content: Self.content, fields: Self.noStore + "\r\nContent-Disposition: attachment; filename=given")
    let origin = try await ScriptedOrigin { file.answer($0) }
    let run = try await named(origin, "/a", "/b")
    #expect(run.status == ExitStatus.output.rawValue)
    #expect(run.errors.contains("-J does not overwrite given: the file exists"), "\(run.errors)")
    #expect(directory.file("given").bytes == Self.content)
  }
}
