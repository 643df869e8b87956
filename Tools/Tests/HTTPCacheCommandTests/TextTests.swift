import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct TextTests {
  @Test(
    "lengths of time are told in one or two units",
    arguments: [
      (-5, "0 s"), (0, "0 s"), (119, "119 s"), (120, "2 min"), (599, "10 min"), (7199, "2 h"),
      (3480, "58 min"), (7200, "2 h"),
      (7500, "2 h 5 min"), (172_800, "2 d"), (176_400, "2 d 1 h"), (1_209_600, "14 d"),
      (63_072_000, "2 y"), (31_536_000, "365 d"),
    ] as [(Int64, String)])
  func durations(seconds: Int64, text: String) {
    #expect(HumanText.duration(seconds) == text)
  }

  @Test(
    "bytes are told in binary units",
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (16_588, "16.2 KiB"), (1_048_575, "1.0 MiB"),
      (67_108_864, "64.0 MiB"), (1 << 30, "1.0 GiB"), (.max, "8.0 EiB"), (209_715_200, "200 MiB"),
    ] as [(Int64, String)])
  func bytes(count: Int64, text: String) {
    #expect(HumanText.bytes(count) == text)
  }

  @Test("control characters of a response do not reach the terminal", arguments: ["get", "show"])
  func controls(command: String) async throws {
    let directory = try ScratchFolder()
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nX-Mine: a\u{9B}31mb"
    let origin = try await ScriptedOrigin("\(head)\r\nContent-Length: 0\r\n\r\n")
    let options = ["--dir", directory.path("cache")]
    let fetched = await CommandRun(["get", "-v", origin.base, "-o", directory.path("out")] + options)
    let run = command == "get" ? fetched : await CommandRun(["show", origin.base] + options)
    #expect((run.output + run.errors).contains("X-Mine: a\u{FFFD}31mb"), "\(run.output)\(run.errors)")
  }

  @Test("a table pads to the widest cell, and not after the last one")
  func table() {
    var table = TextTable(["N", "NAME"], [.trailing, .leading])
    table.add(["12", "a"])
    #expect(table.lines == [" N  NAME", "12  a"])
  }

  @Test(
    "the name of a file is the last component of the path, made safe",
    arguments: [
      ("/a/b.tar.gz?x=/y", "b.tar.gz"), ("/", "index.html"), ("/a/", "a"), ("/%2e%2e%2f", "_._"),
      ("/..", "_."), ("/-rf", "_rf"), ("/.profile", "_profile"), ("/a%00b%0A", "a_b_"),
      ("/%E2%82%AC.txt", "€.txt"), ("/a%5Cb", "a_b"), ("/%zz", "%zz"), ("/a%E2%80%AEb", "a_b"),
    ])
  func fileNames(path: String, name: String) {
    #expect(FileName.safe(from: path) == name)
  }

  @Test("a long name is shortened and keeps its extension")
  func longName() {
    let name = FileName.safe(from: "/" + String(repeating: "ä", count: 300) + ".html")
    #expect(name.utf8.count <= 200)
    #expect(name.hasSuffix(".html"))
    #expect(FileName.safe(from: "/a." + String(repeating: "b", count: 300)).utf8.count == 200)
  }

  @Test(
    "an ending of two parts stays whole: of a file in another file, but not of a version",
    arguments: [
      ("data.tar.gz", "data", ".tar.gz"), ("data.tar.zst.asc", "data", ".tar.zst.asc"),
      ("dump.sql.bz2", "dump", ".sql.bz2"), ("tool-1.2.gz", "tool-1.2", ".gz"), ("a.b.txt", "a.b", ".txt"),
      ("a.gz", "a", ".gz"), ("DATA.TAR.GZ", "DATA", ".TAR.GZ"),
    ])
  func endings(name: String, stem: String, ending: String) {
    #expect(FileName.unique(name, isTaken: [name].contains) == "\(stem)-2\(ending)")
    let long = FileName.safe(name: String(repeating: "x", count: 300) + ending)
    #expect(long.utf8.count == 200 && long.hasSuffix("x" + ending))
  }

  @Test("names that are taken get a number")
  func uniqueNames() {
    #expect(FileName.unique("a.txt") { _ in false } == "a.txt")
    #expect(FileName.unique("a.txt", isTaken: ["a.txt", "a-2.txt"].contains) == "a-3.txt")
    #expect(FileName.unique("a", isTaken: ["a"].contains) == "a-2")
  }

  @Test("the folder of a path ends with its last slash")
  func folder() {
    #expect(OutputPlace.folder(of: "x") == "")
    #expect(OutputPlace.folder(of: "/x") == "/")
    #expect(OutputPlace.folder(of: "a/b/c.txt") == "a/b/")
  }

  @Test("the progress bar fills with its share and fits its width")
  func bar() {
    let half = ProgressText(received: 32 << 20, total: 64 << 20, rate: 8_388_608, done: 0, transfers: 1)
    let line = half.line(width: 100)
    #expect(
      line == "[" + String(repeating: "#", count: 20) + String(repeating: "-", count: 20)
        + "]  50 %  32.0 MiB of 64.0 MiB  8.0 MiB/s  0:04 left")
    for width in 1...120 { #expect(half.line(width: width).count <= width) }
    #expect(!half.line(width: 40).contains("#"))
  }

  @Test("progress of unknown length tells bytes and rate, and how many are done")
  func unknownLength() {
    let text = ProgressText(received: 2048, total: nil, rate: 1024, done: 1, transfers: 3)
    #expect(text.line(width: 80) == "1/3  2.0 KiB  1.0 KiB/s")
    let more = ProgressText(received: 300, total: 200, rate: 0, done: 0, transfers: 1)
    #expect(more.line(width: 80).contains(" 100 %"))
  }

  @Test("time left is told as on a clock")
  func clock() {
    #expect(ProgressText.clock(0) == "0:00")
    #expect(ProgressText.clock(61.2) == "1:02")
    #expect(ProgressText.clock(3723) == "1:02:03")
    #expect(ProgressText.clock(.infinity) == "100 h or more")
  }

  @Test("hit rates count answers without and with the origin")
  func rates() {
    let lines = StatsCommand.lines(
      CacheCounts(hits: 2, validated: 1, misses: 1, stores: 1, hitBytes: 300, originBytes: 100),
      StoreUsage(diskBytes: 2048, diskEntries: 1), directory: "d")
    #expect(lines.contains("hit rate    75.0 %, 50.0 % without asking the origin"))
    #expect(lines.contains { $0.hasSuffix("(75.0 % saved)") })
    let none = StatsCommand.lines(CacheCounts(), StoreUsage(), directory: "d")
    #expect(none.contains("hit rate    –, – without asking the origin"))
  }
}
