import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// `-b` and `-c` of `get`, with real connections.
@Suite(.timeLimit(.minutes(10))) struct CookieOptionTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

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
    let other = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let target = named(other)
    let origin = try await ScriptedOrigin { request, _ in
      request.hasPrefix("GET /login")
        ? Self.answer("Set-Cookie: s=1\r\nLocation: /in\r\n", status: "302 Found")
        : Self.answer("Location: http://\(target)/out\r\n", status: "302 Found")
    }
    await CommandRun.success(
      "get", origin.authority + "/login", "--dir", directory.path("cache"), "-b", "", "-b", "own=2")
    #expect(origin.texts.map(Self.cookies) == ["own=2", "s=1; own=2"])
    #expect(other.texts.map(Self.cookies) == [nil])
  }

  @Test("-c writes a file for its owner alone, which -b of the next run reads; a host alone gets its cookies")
  func file() async throws {
    let origin = try await ScriptedOrigin { _, _ in
      Self.answer("Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/x\r\nCache-Control: no-store\r\n")
    }
    let (jar, cache) = (directory.path("jar"), directory.path("cache"))
    await CommandRun.success("get", origin.authority, "--dir", cache, "-b", jar, "-c", jar)
    var status = stat()
    #expect(stat(jar, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(chmod(jar, 0o640) == 0)
    for url in [origin.authority + "/x/y", named(origin) + "/x/y"] {
      await CommandRun.success("get", url, "--dir", cache, "-b", jar, "-c", jar)
    }
    #expect(origin.texts.map(Self.cookies) == [nil, "b=2; a=1", nil])
    #expect(stat(jar, &status) == 0 && status.st_mode & 0o777 == 0o640)
    let names = try CookieFile.content(of: Data(directory.file("jar").bytes ?? [])).cookies.map {
      "\($0.domain) \($0.name)"
    }
    #expect(names.sorted() == ["127.0.0.1 a", "127.0.0.1 b", "localhost a", "localhost b"])
    #expect(directory.names == ["cache", "jar"])
  }

  @Test(
    "-b and -c of one file: lines that are no cookies stay there, are counted, and are no cookies of another file"
  )
  func otherLines() async throws {
    let origin = try await ScriptedOrigin { _, _ in Self.answer("Set-Cookie: a=1\r\n") }
    let (jar, copy) = (directory.path("jar"), directory.path("copy"))
    let others = [
      Array("# the staging host:\n".utf8), Array("#example.org\tFALSE\t/\tFALSE\t0\tn\t1\n".utf8),
      Array("Set-Cookie: b=2\n".utf8), [0xFF, 0x09, 0x0A], Array("com\tTRUE\t/\tFALSE\t0\tn\t1\n".utf8),
    ].flatMap { $0 }
    let cookie = "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n"
    try directory.write(others + Array(cookie.utf8), to: "jar")
    let arguments = ["get", origin.authority, "--dir", directory.path("cache"), "--policy", "reload"]
    let away = await CommandRun(arguments + ["-b", jar, "-c", copy])
    #expect(away.errors.contains("3 lines are no cookies in \(jar)\n"), "\(away.errors)")
    let copied = try CookieFile.content(of: Data(directory.file("copy").bytes ?? []))
    #expect(copied.cookies.map(\.name) == ["old", "a"] && copied.otherLines.isEmpty)
    // Under another name, and twice: the title is there once.
    for path in [jar, directory.path("./jar")] {
      let run = await CommandRun.success(arguments + ["-b", path, "-c", jar])
      #expect(run.errors.contains("3 lines are no cookies in \(path); -c keeps"), "\(run.errors)")
    }
    #expect(origin.texts.map(Self.cookies) == ["old=1", "old=1", "old=1; a=1"])
    let title = Array("# Netscape HTTP Cookie File\n# Written by httpcache get -c\n\n".utf8)
    #expect(
      directory.file("jar").bytes == title + others
        + Array((cookie + "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n").utf8))
  }

  @Test("-c - writes to standard output")
  func standardOutput() async throws {
    let origin = try await ScriptedOrigin { _, _ in Self.answer("Set-Cookie: a=1\r\n") }
    let run = await CommandRun(
      "get", origin.authority, "--dir", directory.path("cache"), "-o", directory.path("out"), "-c", "-")
    #expect(run.output.hasSuffix("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n"))
  }

  @Test("a response with Vary: Cookie answers requests with the cookie that its request had")
  func vary() async throws {
    let answer = Self.answer("Vary: Cookie\r\nCache-Control: max-age=600\r\n")
    let origin = try await ScriptedOrigin { _, _ in answer }
    let file = try directory.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tuser\t1\n".utf8, to: "one")
    for options in [["-b", file], ["-b", file], ["-b", "user=1"], []] {
      await CommandRun.success(["get", origin.authority, "--dir", directory.path("cache")] + options)
    }
    #expect(origin.texts.map(Self.cookies) == ["user=1", nil])
  }

  @Test("a response from the cache sets no cookie: it may be an old one")
  func stored() async throws {
    let answer = Self.answer("Set-Cookie: a=1\r\nCache-Control: max-age=600\r\n")
    let origin = try await ScriptedOrigin { _, _ in answer }
    let arguments = ["get", origin.authority, "--dir", directory.path("cache"), "-c", directory.path("jar")]
    for expected in [1, 0] {
      await CommandRun.success(arguments)
      #expect(try CookieFile.content(of: Data(directory.file("jar").bytes ?? [])).cookies.count == expected)
    }
    #expect(origin.texts.count == 1)
  }

  @Test(
    "a file that cannot be read is an error of usage, with its reason",
    arguments: [("missing", "No such file"), ("folder", "is a directory")])
  func unreadable(_ name: String, _ reason: String) async throws {
    try directory.makeFolder("folder")
    let run = await CommandRun.failure(.usage, "get", "http://127.0.0.1:1/", "-b", directory.path(name))
    #expect(run.errors.lowercased().contains("cannot read \(directory.path(name)): \(reason)".lowercased()))
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
    let text = lines.joined(separator: "\n") + "\n"
    let jar = try directory.write(text.utf8, to: "jar")
    let run = await CommandRun.failure(.usage, "get", "http://127.0.0.1:1/", "-b", jar, "-c", jar)
    #expect(run.errors.contains(reason), "\(run.errors)")
    #expect(directory.file("jar").bytes == Array(text.utf8))
  }

  @Test("a file of cookies that cannot be written is an error of the output, after the body")
  func unwritable() async throws {
    let origin = try await ScriptedOrigin { _, _ in Self.answer("") }
    await CommandRun.failure(
      .output, "get", origin.authority, "--dir", directory.path("cache"), "-o", directory.path("out"), "-c",
      directory.path("none/jar"))
    #expect(directory.file("out").bytes == Array("ok".utf8))
  }

  @Test("a queue takes no files of cookies", arguments: [["-b", "jar"], ["-c", "jar"]])
  func queue(_ options: [String]) async {
    let run = await CommandRun.failure(.usage, ["get", "http://127.0.0.1:1/", "--queue", "q"] + options)
    #expect(run.errors.contains("does not go with a queue"))
  }
}
