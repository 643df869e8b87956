import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Transfers that are continued, together with options that change what is asked for or written.
@Suite(.timeLimit(.minutes(10))) struct ContinueOptionTests {
  private static let content = ServedFile.bytes(60_000)
  private static let noStore = "Cache-Control: no-store"

  /// Cuts the first answer, after some of it was written to the part file in `directory`.
  private func origin(
    _ file: ServedFile, cut: Int = 40_000, writing directory: TemporaryDirectory? = nil
  ) async throws -> ScriptedOrigin {
    var first = file
    first.cut = cut
    first.awaitedFile = directory?.file("out.httpcache-part/body")
    return try await ScriptedOrigin(first, file)
  }

  // MARK: Content codings

  @Test("a body in gzip that is not stored leaves no part file, and is fetched anew")
  func gzip() async throws {
    let directory = try TemporaryDirectory()
    let file = ServedFile(
      content: CompressedTests.member(Self.content), fields: "Content-Encoding: gzip\r\n" + Self.noStore)
    let origin = try await origin(file, writing: directory)
    let first = await CommandRun.get(from: origin, in: directory)
    #expect(first.status == ExitStatus.brokenProtocol.rawValue)
    #expect(
      first.errors.contains(
        "nothing is kept: a response in a content coding (gzip) is not continued; "
          + "--no-compressed asks for it without"), "\(first.errors)")
    #expect(try directory.names().isEmpty)
    let second = await CommandRun.get(from: origin, in: directory)
    #expect(second.status == 0, "\(second.errors)")
    #expect(origin.requests.last?.fields["range"] == nil)
    #expect(directory.contents("out") == Self.content)
    try await origin.close()
  }

  @Test("a body in gzip that is stored is continued in the cache, and decoded from its beginning")
  func storedGzip() async throws {
    let directory = try TemporaryDirectory()
    let file = ServedFile(
      content: CompressedTests.member(Self.content),
      fields: "Content-Encoding: gzip\r\nCache-Control: max-age=60")
    let origin = try await origin(file, writing: directory)
    _ = await CommandRun.get(from: origin, in: directory)
    let second = await CommandRun.get(from: origin, in: directory)
    #expect(second.status == 0, "\(second.errors)")
    let start = try #require(origin.requests.last?.start)
    #expect(second.errors.contains(": continued: \(HumanText.bytes(Int64(start))) from the cache, "))
    #expect(directory.contents("out") == Self.content)
    #expect(try directory.names() == ["out"])
    try await origin.close()
  }

  @Test("a part without a coding is not continued with octets of a stored body in gzip")
  func variants() async throws {
    let directory = try TemporaryDirectory()
    let plain = ServedFile(content: Self.content, fields: Self.noStore, cut: 40_000)
    let gzip = ServedFile(
      content: CompressedTests.member(Self.content),
      fields: "Content-Encoding: gzip\r\nCache-Control: max-age=60")
    let whole = ServedFile(content: Self.content, fields: Self.noStore)
    let origin = try await ScriptedOrigin { request in
      [plain, gzip, whole][min(request.number, 2)].answer(request)
    }
    _ = await CommandRun.get(from: origin, in: directory, options: "--no-compressed")
    _ = await CommandRun(
      "get", origin.base + "/file", "--dir", directory.file("cache"), "-o", directory.file("other"))
    #expect(directory.contents("other") == Self.content)
    let last = await CommandRun.get(from: origin, in: directory, options: "--no-compressed")
    #expect(last.status == 0, "\(last.errors)")
    #expect(directory.contents("out") == Self.content)
    try await origin.close()
  }

  @Test("the report of a body that is not gzip does not say that bytes are kept")
  func broken() async throws {
    let directory = try TemporaryDirectory()
    let file = ServedFile(
      content: Self.content, fields: "Content-Encoding: gzip\r\nCache-Control: max-age=60")
    let origin = try await ScriptedOrigin { file.answer($0) }
    let run = await CommandRun.get(from: origin, in: directory)
    #expect(run.errors.hasSuffix("the body is not the gzip that its Content-Encoding says\n"))
    try await origin.close()
  }

  @Test(
    "a response without a representation leaves the file alone",
    arguments: [("304 No", [], 6), ("101 Other", [], 6), ("304 No", ["-H", "If-None-Match: \"1\""], 0)])
  func noRepresentation(_ line: String, _ options: [String], _ status: Int32) async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("out")
    try Data("precious".utf8).write(to: URL(fileURLWithPath: file))
    let origin = try await ScriptedOrigin { _ in .init(head: "HTTP/1.1 \(line)") }
    let run = await CommandRun(
      ["get", origin.base + "/file", "--dir", directory.file("cache"), "-o", file] + options)
    #expect(run.status == status, "\(run.errors)")
    #expect(directory.contents("out") == Array("precious".utf8))
    try await origin.close()
  }

  // MARK: Other options

  @Test("--retry continues from the part file")
  func retry() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await origin(
      ServedFile(content: Self.content, fields: Self.noStore), writing: directory)
    let run = await CommandRun.get(
      from: origin, in: directory, options: "--retry", "1", "--retry-delay", "0", "-w",
      "%{num_retries} %{size_download}")
    #expect(run.status == 0, "\(run.errors)")
    let start = try #require(origin.requests.last?.start)
    #expect(run.output == "1 \(Self.content.count - start)")
    #expect(directory.contents("out") == Self.content)
    #expect(try directory.names() == ["out"])
    try await origin.close()
  }

  @Test("--retry does not repeat bytes that a reader has received")
  func retryOfStream() async throws {
    let directory = try TemporaryDirectory()
    let content = Array(Self.content.prefix(2000))
    let origin = try await origin(ServedFile(content: content, fields: Self.noStore), cut: 1000)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let run = await CommandRun(
      "get", origin.base + "/file", "--dir", directory.file("cache"), "-o", "/dev/fd/\(ends[1])", "--retry",
      "2", "--retry-delay", "0")
    close(ends[1])
    #expect(run.status == ExitStatus.brokenProtocol.rawValue)
    #expect(origin.requests.count == 1)
    let got = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true).readDataToEndOfFile()
    #expect(Array(content.prefix(got.count)) == Array(got) && got.count <= 1000)
    try await origin.close()
  }

  @Test("bytes that came without a check of certificates are not continued with a check, and the reverse")
  func insecure() async throws {
    for (first, second) in [(["-k"], []), ([], ["-k"]), (["-k"], ["-k"])] as [([String], [String])] {
      let directory = try TemporaryDirectory()
      let origin = try await origin(
        ServedFile(content: Self.content, fields: Self.noStore), writing: directory)
      for options in [first, second] {
        _ = await CommandRun(
          ["get", origin.base + "/file", "--dir", directory.file("cache"), "-o", directory.file("out")]
            + options)
      }
      #expect((origin.requests.last?.start != nil) == (first == second))
      #expect(directory.contents("out") == Self.content)
      try await origin.close()
    }
  }

  @Test("with -I and with content no part file is made")
  func others() async throws {
    for options in [["-d", "a=b"], ["-I"], ["-r", "0-50000"]] {
      let directory = try TemporaryDirectory()
      let origin = try await origin(ServedFile(content: Self.content, fields: Self.noStore))
      _ = await CommandRun(
        ["get", origin.base + "/file", "--dir", directory.file("cache"), "-o", directory.file("out")]
          + options)
      #expect(try !directory.names().contains("out.httpcache-part"))
      try await origin.close()
    }
  }

  // MARK: -J

  private func named(_ origin: ScriptedOrigin, _ directory: TemporaryDirectory) async throws -> (
    status: Int32, errors: String
  ) {
    try await CommandProcess(
      ["get", origin.base + "/file", "--dir", directory.file("cache"), "-O", "-J"], in: directory
    ).end()
  }

  @Test("-J continues from a part file that has the URL's name, and keeps the first response's name")
  func named() async throws {
    let directory = try TemporaryDirectory()
    // The folder has the name from the URL.
    try FileManager.default.createDirectory(
      atPath: directory.file("file"), withIntermediateDirectories: false)
    let name = "\r\nContent-Disposition: attachment; filename=given"
    let first = ServedFile(content: Self.content, fields: Self.noStore + name, cut: 40_000)
    let second = ServedFile(content: Self.content, fields: Self.noStore)
    let origin = try await ScriptedOrigin(first, second)
    _ = try await named(origin, directory)
    #expect(try directory.names() == ["file", "file.httpcache-part"])
    let run = try await named(origin, directory)
    #expect(run.status == 0, "\(run.errors)")
    #expect(origin.requests.last?.start != nil)
    #expect(directory.contents("given") == Self.content)
    #expect(try directory.names() == ["file", "given"])
    try await origin.close()
  }

  @Test("-J overwrites neither a file nor a link that leads to nothing, and leaves no part file")
  func taken() async throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("given"), withDestinationPath: directory.file("nothing"))
    let file = ServedFile(
      content: Self.content, fields: "Content-Disposition: attachment; filename=given")
    let origin = try await ScriptedOrigin { file.answer($0) }
    let run = try await named(origin, directory)
    #expect(run.status == ExitStatus.output.rawValue)
    #expect(run.errors.contains("-J does not overwrite given: the file exists"), "\(run.errors)")
    #expect(try directory.names() == ["given"])
    try await origin.close()
  }

  @Test("-J gives one name to one of two transfers, and keeps the body of the other")
  func twice() async throws {
    let directory = try TemporaryDirectory()
    let file = ServedFile(
      content: Self.content, fields: Self.noStore + "\r\nContent-Disposition: attachment; filename=given")
    let origin = try await ScriptedOrigin { file.answer($0) }
    let run = try await CommandProcess(
      ["get", origin.base + "/a", origin.base + "/b", "--dir", directory.file("cache"), "-O", "-J"],
      in: directory
    ).end()
    #expect(run.status == ExitStatus.output.rawValue)
    #expect(run.errors.contains("-J does not overwrite given: the file exists"), "\(run.errors)")
    #expect(directory.contents("given") == Self.content)
    try await origin.close()
  }
}
