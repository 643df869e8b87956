import Foundation
import HTTPCacheSemantics
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Overrides of the file that have no effect in a shared cache", .timeLimit(.minutes(10)))
struct OverrideEffectsTests {
  private func check(_ overrides: String, isPrivate: Bool = false) async throws -> (
    path: String, run: CommandRun
  ) {
    let directory = try ScratchFolder()
    let text = "upstream: http://127.0.0.1:1\nlisten: 127.0.0.1:0\ncapacity: 0\n\(overrides)\n"
    let path = try directory.write(text.utf8, to: "serve.yaml")
    let options = isPrivate ? ["--private"] : []
    return (path, await CommandRun(["serve", "--config", path, "--check"] + options))
  }

  private static let lifting = [
    ("ignore: [no-store, Expires]", "no-store"), ("ignore: private", "private"),
    ("ignore-vary: [Cookie]", "Vary"),
    ("cache-control: 'max-age=60, Public'", "private"),
  ]

  @Test("are refused, with what they need", arguments: lifting)
  func refused(_ effect: String, _ protection: String) async throws {
    let (path, run) = try await check("overrides: [{\(effect)}]")
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.hasPrefix("httpcache: \(path), line 4: overrides[0]."), "\(run.errors)")
    #expect(
      run.errors.hasSuffix(" in a shared cache without sharing-despite: [\(protection)]\n"), "\(run.errors)")
  }

  @Test("are valid with it, also in another override, and in a private cache", arguments: lifting)
  func valid(_ effect: String, _ protection: String) async throws {
    let shared = "sharing-despite: [\(protection)]"
    for text in ["overrides: [{\(effect), \(shared)}]", "overrides: [{\(effect)}, {match: /a, \(shared)}]"] {
      try await check(text).run.expectSuccess()
    }
    try await check("overrides: [{\(effect)}]", isPrivate: true).run.expectSuccess()
  }

  private func disjoint(_ one: String, _ other: String) async throws -> CommandRun {
    try await check(
      "overrides: [{match: '\(one)', ignore: [no-store]}, {match: '\(other)', sharing-despite: [no-store]}]"
    ).run
  }

  @Test(
    "an override of other targets lifts nothing",
    arguments: [
      ("/a/**", "/b/**"), ("/a/x*", "/a/y*"), ("host:a.example", "host:b.example"),
      ("https://a.example/*", "https://b.example/*"),
    ])
  func otherTargets(_ one: String, _ other: String) async throws {
    let run = try await disjoint(one, other)
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(
      run.errors.hasSuffix(" in a shared cache without sharing-despite: [no-store]\n"), "\(run.errors)")
  }

  @Test(
    "an override that may match the same targets lifts the rule",
    arguments: [
      ("/a/**", "/a/b/*"), ("/a/b", "/a/**"), ("/a/**", "/**/b"), ("/a/**", "/a?x=1"), ("/%61/**", "/a/**"),
      ("/a/**", "host:a.example"), ("/a/**", "https://a.example/*"), ("host:*.example", "host:a.example"),
      ("HTTPS://A.example/*", "https://a.example/b"),
    ])
  func sharedTargets(_ one: String, _ other: String) async throws {
    try await disjoint(one, other).expectSuccess()
  }

  @Test(
    "others are valid",
    arguments: [
      "ignore: [no-cache, must-revalidate]", "ignore-vary: [Accept]", "cache-control: max-age=60",
      "pin: true",
    ])
  func others(_ effect: String) async throws {
    try await check("overrides: [{\(effect)}]").run.expectSuccess()
  }

  @Test(
    "what is never stored has no lifetime, and is not pinned, in any cache",
    arguments: [
      "fresh: 60", "fresh-at-least: 60", "fresh-at-most: 60", "pin: true", "stale-if-error: 60",
      "stale-while-revalidate: 60",
    ])
  func neverStored(_ effect: String) async throws {
    for isPrivate in [false, true] {
      let (path, run) = try await check("overrides: [{never-store: true, \(effect)}]", isPrivate: isPrivate)
      #expect(run.status == ExitStatus.usage.rawValue)
      #expect(run.errors.hasPrefix("httpcache: \(path), line 4: overrides[0]."), "\(run.errors)")
      #expect(run.errors.hasSuffix(": has no effect beside never-store: true\n"), "\(run.errors)")
    }
    for valid in [
      "{never-store: true, \(effect)}, {match: /a, never-store: false}", "{never-store: true}, {\(effect)}",
      "{never-store: false, \(effect)}", "{never-store: true, drop-query: a}",
    ] {
      let run = try await check("overrides: [\(valid)]").run
      #expect(run.status == 0, "\(valid): \(run.errors)")
    }
  }

  @Test("sharing-despite names the rules that may be lifted")
  func protections() async throws {
    let (path, run) = try await check("overrides: [{sharing-despite: nonsense}]")
    #expect(
      run.errors.contains(
        "\(path), line 4: overrides[0].sharing-despite must be one of private, no-store, Authorization, Vary, Set-Cookie"
      ), "\(run.errors)")
  }
}
