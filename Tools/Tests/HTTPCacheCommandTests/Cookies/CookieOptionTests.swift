import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// `-b` and `-c` of `get`, with real connections.
@Suite(.timeLimit(.minutes(10))) struct CookieOptionTests {
  private static func answer(_ fields: String, status: String = "200 OK") -> [UInt8] {
    Array("HTTP/1.1 \(status)\r\n\(fields)Content-Length: 2\r\nConnection: close\r\n\r\nok".utf8)
  }

  private static func cookies(_ request: String) -> String? {
    request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("cookie: ") }.map {
      String($0.dropFirst(8))
    }
  }

  /// The port of an origin under another name of this machine.
  private func named(_ origin: ScriptedOrigin) -> String {
    origin.authority.replacing("127.0.0.1", with: "localhost")
  }

  @Test("the cookie of a redirect goes to the next URL of its host, and to no other host")
  func redirects() async throws {
    let directory = try TemporaryDirectory()
    let other = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let target = named(other)
    let origin = try await ScriptedOrigin { request, _ in
      request.hasPrefix("GET /login")
        ? Self.answer("Set-Cookie: s=1\r\nLocation: /in\r\n", status: "302 Found")
        : Self.answer("Location: http://\(target)/out\r\n", status: "302 Found")
    }
    let run = await CommandRun(
      "get", origin.authority + "/login", "--dir", directory.file("cache"), "-b", "", "-b", "own=2")
    try await origin.close()
    try await other.close()
    #expect(run.status == 0, "\(run.errors)")
    #expect(origin.texts.map(Self.cookies) == ["own=2", "s=1; own=2"])
    #expect(other.texts.map(Self.cookies) == [nil])
  }

  @Test("-c writes a file for its owner alone, which -b of the next run reads; a host alone gets its cookies")
  func file() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { _, _ in
      Self.answer("Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/x\r\nCache-Control: no-store\r\n")
    }
    let (jar, cache) = (directory.file("jar"), directory.file("cache"))
    let first = await CommandRun("get", origin.authority, "--dir", cache, "-b", jar, "-c", jar)
    #expect(first.status == 0, "\(first.errors)")
    var status = stat()
    #expect(stat(jar, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(chmod(jar, 0o640) == 0)
    for url in [origin.authority + "/x/y", named(origin) + "/x/y"] {
      let run = await CommandRun("get", url, "--dir", cache, "-b", jar, "-c", jar)
      #expect(run.status == 0, "\(run.errors)")
    }
    try await origin.close()
    #expect(origin.texts.map(Self.cookies) == [nil, "b=2; a=1", nil])
    #expect(stat(jar, &status) == 0 && status.st_mode & 0o777 == 0o640)
    let names = try CookieFile.content(of: Data(directory.contents("jar") ?? [])).cookies.map {
      "\($0.domain) \($0.name)"
    }
    #expect(names.sorted() == ["127.0.0.1 a", "127.0.0.1 b", "localhost a", "localhost b"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["cache", "jar"])
  }

  @Test(
    "-b and -c of one file: lines that are no cookies stay there, are counted, and are no cookies of another file"
  )
  func otherLines() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { _, _ in Self.answer("Set-Cookie: a=1\r\n") }
    let (jar, copy) = (directory.file("jar"), directory.file("copy"))
    let others = [
      Array("# the staging host:\n".utf8), Array("#example.org\tFALSE\t/\tFALSE\t0\tn\t1\n".utf8),
      Array("Set-Cookie: b=2\n".utf8), [0xFF, 0x09, 0x0A], Array("com\tTRUE\t/\tFALSE\t0\tn\t1\n".utf8),
    ].flatMap { $0 }
    let cookie = "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n"
    try Data(others + Array(cookie.utf8)).write(to: URL(fileURLWithPath: jar))
    let arguments = ["get", origin.authority, "--dir", directory.file("cache"), "--policy", "reload"]
    let away = await CommandRun(arguments + ["-b", jar, "-c", copy])
    #expect(away.errors.contains("3 lines are no cookies in \(jar)\n"), "\(away.errors)")
    let copied = try CookieFile.content(of: Data(directory.contents("copy") ?? []))
    #expect(copied.cookies.map(\.name) == ["old", "a"] && copied.otherLines.isEmpty)
    // Under another name, and twice: the title is there once.
    for path in [jar, directory.file("./jar")] {
      let run = await CommandRun(arguments + ["-b", path, "-c", jar])
      #expect(run.status == 0)
      #expect(run.errors.contains("3 lines are no cookies in \(path); -c keeps"), "\(run.errors)")
    }
    try await origin.close()
    #expect(origin.texts.map(Self.cookies) == ["old=1", "old=1", "old=1; a=1"])
    let title = Array("# Netscape HTTP Cookie File\n# Written by httpcache get -c\n\n".utf8)
    #expect(
      directory.contents("jar") == title + others
        + Array((cookie + "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n").utf8))
  }

  @Test("-c - writes to standard output")
  func standardOutput() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { _, _ in Self.answer("Set-Cookie: a=1\r\n") }
    let run = await CommandRun(
      "get", origin.authority, "--dir", directory.file("cache"), "-o", directory.file("out"), "-c", "-")
    try await origin.close()
    #expect(run.output.hasSuffix("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n"))
  }

  @Test("a response with Vary: Cookie answers requests with the cookie that its request had")
  func vary() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { _, _ in
      Self.answer("Vary: Cookie\r\nCache-Control: max-age=600\r\n")
    }
    try Data("127.0.0.1\tFALSE\t/\tFALSE\t0\tuser\t1\n".utf8).write(
      to: URL(fileURLWithPath: directory.file("one")))
    for options in [["-b", directory.file("one")], ["-b", directory.file("one")], ["-b", "user=1"], []] {
      let run = await CommandRun(["get", origin.authority, "--dir", directory.file("cache")] + options)
      #expect(run.status == 0, "\(run.errors)")
    }
    try await origin.close()
    #expect(origin.texts.map(Self.cookies) == ["user=1", nil])
  }

  @Test("a response from the cache sets no cookie: it may be an old one")
  func stored() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { _, _ in
      Self.answer("Set-Cookie: a=1\r\nCache-Control: max-age=600\r\n")
    }
    let arguments = ["get", origin.authority, "--dir", directory.file("cache"), "-c", directory.file("jar")]
    for expected in [1, 0] {
      let run = await CommandRun(arguments)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try CookieFile.content(of: Data(directory.contents("jar") ?? [])).cookies.count == expected)
    }
    try await origin.close()
    #expect(origin.texts.count == 1)
  }

  @Test(
    "a file that cannot be read is an error of usage, with its reason",
    arguments: [("missing", "No such file"), ("folder", "is a directory")])
  func unreadable(_ name: String, _ reason: String) async throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file("folder"), withIntermediateDirectories: false)
    let run = await CommandRun("get", "http://127.0.0.1:1/", "-b", directory.file(name))
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.lowercased().contains("cannot read \(directory.file(name)): \(reason)".lowercased()))
  }

  @Test(
    "a file with more cookies than a jar holds, or with a longer one, is an error with the limit, and stays as it is",
    arguments: [
      (
        (0..<151).map { "example.com\tFALSE\t/\tFALSE\t0\tn\($0)\t1" },
        "151 cookies of example.com, more than 150"
      ),
      ((0..<3_001).map { "h\($0).example\tFALSE\t/\tFALSE\t0\tn\t1" }, "3001 cookies, more than 3000"),
      (
        ["example.com\tFALSE\t/\tFALSE\t0\tn\t" + String(repeating: "v", count: 4_096)],
        "example.com have more than 4096 bytes"
      ),
    ])
  func beyondLimits(_ lines: [String], _ reason: String) async throws {
    let directory = try TemporaryDirectory()
    let text = lines.joined(separator: "\n") + "\n"
    try directory.write(text.utf8, to: "jar")
    let run = await CommandRun(
      "get", "http://127.0.0.1:1/", "-b", directory.file("jar"), "-c", directory.file("jar"))
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.contains(reason), "\(run.errors)")
    #expect(directory.contents("jar") == Array(text.utf8))
  }

  @Test("a file of cookies that cannot be written is an error of the output, after the body")
  func unwritable() async throws {
    let directory = try TemporaryDirectory()
    let origin = try await ScriptedOrigin { _, _ in Self.answer("") }
    let run = await CommandRun(
      "get", origin.authority, "--dir", directory.file("cache"), "-o", directory.file("out"), "-c",
      directory.file("none/jar"))
    try await origin.close()
    #expect(run.status == ExitStatus.output.rawValue)
    #expect(directory.contents("out") == Array("ok".utf8))
  }

  @Test("a queue takes no files of cookies", arguments: [["-b", "jar"], ["-c", "jar"]])
  func queue(_ options: [String]) async {
    let run = await CommandRun(["get", "http://127.0.0.1:1/", "--queue", "q"] + options)
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.contains("does not go with a queue"))
  }
}
