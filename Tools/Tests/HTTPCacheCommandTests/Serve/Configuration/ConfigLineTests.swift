import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Each error of the configuration file has its line, where there is one", .timeLimit(.minutes(10)))
struct ConfigLineTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func check(_ bytes: some Sequence<UInt8>) async throws -> (path: String, run: CommandRun) {
    let path = try directory.write(bytes, to: "serve.yaml")
    return (path, await CommandRun("serve", "--config", path, "--check"))
  }

  @Test(
    "a text that is not YAML",
    arguments: [
      (
        "upstream: http://a\ngrace: 1\nupstream: http://b\n",
        "line 1: is not YAML: the key 'upstream' is there twice"
      ),
      (
        "upstream: http://a\nroutes:\n- {host: h, host: i}\n",
        "line 3: is not YAML: the key 'host' is there twice"
      ),
      ("upstream: http://a\n1: x\n\"1\": y\n", "line 2: is not YAML: the key '1' is there twice"),
      ("upstream: http://a\n\ndir: \u{0}x\n", "line 3: is not YAML: control characters are not allowed"),
      ("upstream: http://a\r\ndir: \u{1}x\r\n", "line 2: is not YAML: control characters are not allowed"),
      ("upstream: http://a\nlisen:\n\n  - 1\n", "line 2: unknown key 'lisen'"),
      ("upstream: http://a\n? [a]\n: 1\n", "line 2: a key must be a name"),
    ])
  func text(_ text: String, _ message: String) async throws {
    let (path, run) = try await check(text.utf8)
    #expect(run.status == ExitStatus.usage.rawValue)
    #expect(run.errors.hasPrefix("httpcache: \(path), \(message)"), "\(run.errors)")
  }

  @Test("octets that are not UTF-8")
  func octets() async throws {
    let (path, run) = try await check(Array("upstream: http://a\n# ü\ndir: ".utf8) + [0xFF, 0x0A])
    #expect(run.errors == "httpcache: \(path), line 3: is not UTF-8\n")
  }

  @Test(
    "a value that cannot be used, or that another one excludes",
    arguments: [
      (
        "listen: 127.0.0.1:0\nforward: true\nroutes: [{upstream: 'http://a'}]",
        "line 3: routes do not go with"
      ),
      (
        "upstream: http://a\nfleet: redis://127.0.0.1:1\nfleet-name: 'a b'",
        "line 3: fleet-name: the name of a fleet must have 1 to 64 letters"
      ),
      (
        "upstream: http://a\nfleet: rediss://127.0.0.1:1\nfleet-ca: /none",
        "line 3: fleet-ca: cannot read the certificate /none"
      ),
      (
        "upstream: http://a\nfleet: redis://127.0.0.1:1\nfleet-secret-file: /none",
        "line 3: fleet-secret-file /none: cannot be read"
      ),
      // A value of one letter is in many messages.
      ("upstream: http://a\nupstream-ca: x", "line 2: upstream-ca: cannot read the certificate x"),
      (
        "upstream: http://a\ntrust-forwarded:\n- 10.0.0.0/8\n- none-of-the-addresses",
        "line 4: trust-forwarded: The value 'none-of-the-addresses' is invalid for '--trust-forwarded <cidr>': expected an address"
      ),
      ("upstream: http://a\ncapacity: 0\nseed:\n- /none/one\n- /none/other", "line 4: seed: "),
      (
        "upstream: http://a\noverrides:\n- cache-control: 'max-age=x'",
        "line 3: overrides[0].cache-control must be directives that a cache can read: "
      ),
      (
        "upstream: http://a\ncapacity: 0\nlisten: 192.0.2.1:8080\nallow-remote: true\n",
        "line 3: listen: cannot listen on 192.0.2.1:8080: "
      ),
    ])
  func value(_ text: String, _ message: String) async throws {
    let (path, run) = try await check("\(text)\n".utf8)
    #expect(run.status != 0)
    #expect(run.errors.hasPrefix("httpcache: \(path), \(message)"), "\(run.errors)")
  }

  @Test("an option is the subject of a message that begins with its whole name")
  func subject() throws {
    let text = "fleet: redis://h\nfleet-name: shop\nlisten: 127.0.0.1:1\n"
    let path = try directory.write(text.utf8, to: "serve.yaml")
    let file = try ServeFile(path)
    #expect(file.located("--fleet: x", key: nil) == "\(path), line 1: fleet: x")
    #expect(file.located("--fleet-name: x", key: nil) == "\(path), line 2: fleet-name: x")
    #expect(
      file.located("the shop is closed", key: nil) == "\(path), line 2: fleet-name: the shop is closed")
    #expect(file.located("something", key: "listen") == "\(path), line 3: listen: something")
    #expect(file.located("the shop is closed", key: "admin") == nil)
    #expect(file.located("something", key: nil) == nil)
  }
}
