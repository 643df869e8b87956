import Foundation
import HTTPCacheProxy
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Messages quote files, lists, arguments and origins. They stay within a screen, and steer no terminal.
@Suite("Messages about hostile input", .timeLimit(.minutes(10))) struct HostileMessageTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private static let long = String(repeating: "k", count: 300_000)
  private static let control = "\u{1B}[2J\u{7}\u{9B}31m"

  private func write(_ text: String, _ name: String = "file") throws -> String {
    try directory.write(text.utf8, to: name)
  }

  private func expectWithinScreen(_ run: CommandRun, _ comment: String) {
    #expect(run.status != 0, "\(comment)")
    #expect(!run.errors.isEmpty && run.errors.count <= 2_500, "\(comment): \(run.errors.count)")
    #expect(run.errors.split(separator: "\n", omittingEmptySubsequences: false).count <= 30, "\(comment)")
    #expect(
      !run.errors.unicodeScalars.contains {
        $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t"
      },
      "\(comment): \(run.errors.debugDescription.prefix(200))")
  }

  private static let texts = [long, control, String(repeating: "a\n", count: 3_000)]

  @Test(
    "a configuration file",
    arguments: [
      "key": #""%": 1"#, "value": #"listen: "%""#, "nested": #"routes: [{upstream: "%"}]"#,
      "nested key": #"routes: [{upstream: "http://a", "%": 1}]"#, "deep": #"upstreams: {"%": {"%": 1}}"#,
      "group": #"upstreams: {"%": {addresses: "no"}}"#, "not YAML": "a: [%", "tag": "!!% a: b: c",
      "glob": #"overrides: [{match: "host:%", pin: 1}]"#, "field": #"request-fields: {set: {"%": a}}"#,
      "number": #"grace: "%""#, "list": #"allow: [{"%": 1}]"#, "cidr": #"allow-address: "%""#,
    ])
  func configuration(_ name: String, _ template: String) async throws {
    for text in Self.texts {
      // JSON has the escapes of YAML's double quotation marks.
      let escaped = String(decoding: try JSONEncoder().encode(text), as: UTF8.self).dropFirst().dropLast()
      let path = try write("upstream: http://127.0.0.1:1\n" + template.replacing("%", with: escaped) + "\n")
      expectWithinScreen(await CommandRun("serve", "--config", path, "--check"), "\(name): \(text.prefix(9))")
    }
    let wide = try write("upstream: http://127.0.0.1:1\n" + template.replacing("%", with: Self.control))
    expectWithinScreen(await CommandRun("serve", "--config", wide, "--check"), name)
  }

  @Test("many names of upstreams in one message")
  func names() async throws {
    let groups = (0..<5_000).map { "group-\($0): {addresses: 'http://127.0.0.1:1'}" }.joined(separator: ", ")
    let path = try write("upstreams: {\(groups)}\nroutes: [{upstream: none}]\n")
    expectWithinScreen(await CommandRun("serve", "--config", path, "--check"), "names")
  }

  @Test(
    "a list of URLs, a file of fields, and arguments",
    arguments: [
      "%", "http://127.0.0.1:1/\n  %", "http://127.0.0.1:1/\n  out=%/", "http://127.0.0.1:1/\n  split=%",
      "http://127.0.0.1:1/\n  checksum=%", "http://127.0.0.1:1/\n  header=%",
      "http://127.0.0.1:1/\n  header=%: \u{1}",
    ])
  func lists(_ template: String) async throws {
    for text in [Self.long, Self.control] {
      let path = try write(template.replacing("%", with: text))
      let run = await CommandRun("get", "--dir", directory.path("cache"), "--input-file", path)
      expectWithinScreen(run, "\(template): \(text.prefix(9))")
    }
  }

  @Test(
    "arguments",
    arguments: [
      ["get", "%"], ["get", "-X", "%", "a"], ["pack", "a", "--from-page", "%"], ["get", "-H", "@%", "a"],
      ["ls", "--seed", "%"], ["unpack", "%", "a"], ["%"],
    ])
  func arguments(_ arguments: [String]) async {
    for text in [Self.long, Self.control] {
      let run = await CommandRun(arguments.map { $0.replacing("%", with: text) })
      expectWithinScreen(run, "\(arguments): \(text.prefix(9))")
    }
  }

  @Test("recordings and folders")
  func recordings() async throws {
    for text in [Self.long, Self.control] {
      let escaped = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
      let har = try write(
        #"{"log":{"entries":[{"request":{"method":\#(escaped),"url":"http://a/"},"response":{"status":200}}]}}"#,
        "a.har")
      expectWithinScreen(await CommandRun("ls", "--seed", har), "HAR")
      try directory.makeFolder("folder")
      _ = try write(#"{"target":\#(escaped),"file":"a","status":200,"fields":[]}"#, "folder/seeds.jsonl")
      expectWithinScreen(await CommandRun("ls", "--seed", directory.path("folder")), "folder")
    }
  }

  @Test("both ends of a long message stay, and a short one stays as it is")
  func bounded() {
    let text = "start " + Self.long + " end"
    #expect(text.bounded.hasPrefix("start k") && text.bounded.hasSuffix("k end"))
    #expect(text.bounded.unicodeScalars.count == 2_000 && text.bounded.contains("…"))
    for short in ["", "a\nb\n", String(repeating: "é", count: 2_000), String(repeating: "\n", count: 23)] {
      #expect(short.bounded == short)
    }
    let lines = (1...25).map(String.init).joined(separator: "\n").bounded.split(separator: "\n")
    #expect(lines.count == 24 && lines[22] == "23" && lines[23] == "…")
    #expect(Self.long.quoted == String(repeating: "k", count: 80) + "…" && "a".quoted == "a")
  }
}
