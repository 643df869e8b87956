import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The configuration file of `serve`.
@Suite(.timeLimit(.minutes(10))) struct ServeFileTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func write(_ text: String) throws -> String { try directory.write(text.utf8, to: "serve.yaml") }

  @Test("each option in the help is a key of the file, with that kind of value, except those for one run")
  func keys() throws {
    let notKeys = ServeKey.onlyOnCommandLine.union(["shared", "help", "version"])
    let help = HTTPCacheCommand.helpMessage(for: ServeCommand.self, columns: 400)
    var found: Set<String> = []
    for line in help.split(separator: "\n") where line.hasPrefix("  -") {
      let start = line.drop { $0 == " " }
      let head = start[..<(start.range(of: "  ")?.lowerBound ?? start.endIndex)]
      let names = head.split { " ,/".contains($0) }.filter { $0.hasPrefix("--") }.map { $0.dropFirst(2) }
      guard let key = ServeKey.all.first(where: { names.contains($0.name[...]) }) else {
        #expect(names.contains { notKeys.contains(String($0)) }, "\(line)")
        continue
      }
      found.insert(key.name)
      #expect(head.contains("<") == (key.kind == .value || key.kind == .list), "\(line)")
    }
    #expect(found == Set(ServeKey.all.map(\.name)))
  }

  @Test("options come from the command line, then from variables, then from the file")
  func precedence() throws {
    let path = try write(
      "listen: 127.0.0.1:1\ncapacity: 5M\nallow: [a, b]\nforward: true\nhttp2: false\ngrace: 3\n")
    let arguments = try ServeArguments.expanded(
      ["serve", "--config", path, "--disk=7M"],
      environment: ["HTTPCACHE_SERVE_GRACE": "4", "HTTPCACHE_SERVE_CONNECT_PORT": "1,2"])
    #expect(
      arguments == [
        "serve", "--forward", "--listen=127.0.0.1:1", "--allow=a", "--allow=b", "--connect-port=1",
        "--connect-port=2", "--no-http2", "--grace=4", "--config", path, "--disk=7M",
      ])
    let command = try #require(try HTTPCacheCommand.parsedWithFile(arguments) as? ServeCommand)
    #expect(command.forwardOptions.allow == ["a", "b"])
    #expect(throws: ConfigFailure.self) {
      try ServeArguments.expanded(["serve"], environment: ["HTTPCACHE_SERVE_FORWARD": "maybe"])
    }
    #expect(
      try ServeArguments.expanded(["get", "--config", "x"], environment: [:]) == ["get", "--config", "x"])
  }

  @Test("a wrong value is reported with its variable, not with the line that the variable replaces")
  func wrongVariable() throws {
    let path = try write("grace: 3\ntimeout: 5\n")
    let message = "--grace must be positive"
    let arguments = ["serve", "--config", path]
    let variable = ServeArguments.located(
      message, in: arguments, environment: ["HTTPCACHE_SERVE_GRACE": "-1", "HTTPCACHE_SERVE_TIMEOUT": "1"])
    #expect(variable?.description == "HTTPCACHE_SERVE_GRACE: \(message)")
    let line = ServeArguments.located(message, in: arguments, environment: [:])
    #expect(line?.description == "\(path), line 1: grace must be positive")
    let given = ["serve", "--config", path, "--grace=-1"]
    #expect(ServeArguments.located(message, in: given, environment: [:]) == nil)
  }

  @Test(
    "a file that cannot be used is named, with line, key and what was expected",
    arguments: [
      ("listen: x", "line 1: listen: The value 'x' is invalid for '--listen"),
      ("\nlisen: 1", "line 2: unknown key 'lisen'; did you mean 'listen'? The keys are access-log, "),
      ("nothing-like-it: 1", "line 1: unknown key 'nothing-like-it'; the keys are access-log, "),
      ("record: a.har", "line 1: unknown key 'record'; --record is only for the command line. The keys are "),
      ("disk: 1G", "line 1: unknown key 'disk'; write 'capacity'. The keys are "),
      ("shared: true", "line 1: unknown key 'shared'; write 'private', which is its opposite. The keys are "),
      ("no-http2: true", "line 1: unknown key 'no-http2'; write 'http2', which is its opposite. The "),
      ("upstream: ftp://x", "line 1: upstream requires an http or https URL"),
      ("upstream: http://a\ntimeout: 0", "line 2: timeout must be between 1 and 3600"),
      (
        "upstream: http://a\ntimeout: 5 parsecs",
        "line 2: timeout: The value '5 parsecs' is invalid for '--timeout <seconds>': expected a whole number of seconds, such as 60"
      ),
      (
        "upstream: http://a\ncapacity: lots",
        "line 2: capacity: The value 'lots' is invalid for '--capacity <bytes>': expected bytes, such as 4096, 64M or 1.5G"
      ),
      ("upstream: http://a\nlargest-entry: most", ": expected bytes such as 64M, or a share such as 10%"),
      ("upstream: http://a\nadmin: here", ": expected a host and a port, such as 127.0.0.1:8080"),
      ("upstreams: {a: {addresses: ['http://h'], pause: soon}}", "pause must be a whole number of seconds"),
      ("upstream: http://a\ngrace: [1]", "line 2: grace must be one value (got a list)"),
      ("upstream: http://a\ngrace:", "line 2: grace must be a value"),
      ("forward: maybe", "line 1: forward must be true or false (got 'maybe')"),
      ("routes: 5", "line 1: routes must be a list (got '5')"),
      (
        "routes:\n  - upstream: nix",
        "line 2: routes[0].upstream must be an http or https URL, or the name of a group under upstreams, and there is none (got 'nix')"
      ),
      (
        "upstreams: {a: {addresses: ['http://h']}}\nroutes: [{upstream: nix}]",
        "routes[0].upstream must be an http or https URL, or one of a (got 'nix')"
      ),
      ("routes: [{path: /a}]", "routes[0] must be a route with an upstream"),
      ("routes: [{upstream: 'http://a', path: a}]", "routes[0].path must be a path that begins with /"),
      ("routes: [{upstream: 'http://a', path: /a/../b}]", "routes[0].path must be a path"),
      ("routes: [{upstream: 'http://a', host: 'a:80'}]", "routes[0].host must be a host"),
      ("routes: [{upstream: 'http://a', prot: 1}]", "routes[0]: unknown key 'prot'; the keys are host, path"),
      ("routes: [{upstream: 'http://a'}]\nforward: true", "routes do not go with forward"),
      (
        "upstreams: {a: {addresses: []}}\nroutes: []",
        "upstreams.a.addresses must be a list of at least one URL"
      ),
      (
        "upstreams: {a: {addresses: ['http://h/p']}}\nroutes: []",
        "addresses[0] must be an http or https URL without"
      ),
      ("upstreams: {a: {addresses: ['http://h']}}", "upstreams must be used by routes"),
      ("memory: 1M", "has neither upstream, routes nor forward"),
      (
        "upstream: http://a\nresponse-fields: {set: {Content-Length: 1}}",
        "response-fields.set.Content-Length must be"
      ),
      (
        "upstream: http://a\nresponse-fields: {set: {X: \"a\\nb\"}}",
        "response-fields.set.X must be a field value"
      ),
      (
        "upstream: http://a\nrequest-fields: {remove: [Host]}",
        "request-fields.remove[0] must be the name of a field"
      ),
      (
        "upstream: http://a\noverrides: [{match: /a, fresh: -1}]",
        "overrides[0].fresh must be a whole number of seconds from 0 to 2147483647, such as 60 (got '-1')"
      ),
      (
        "upstream: http://a\noverrides: [{match: /a}]",
        "overrides[0] must be an override with at least one effect"
      ),
      ("upstream: http://a\noverrides: [{ignore: x}]", "overrides[0].ignore must be one of no-store, "),
      ("upstream: http://a\nnever-store: 'host:*'", "never-store must be a glob"),
      ("upstream: http://a\nadmin: 0.0.0.0:90", "line 2: admin 0.0.0.0:90 can be reached"),
      ("upstream: http://a\ntls-certificate: /none\ntls-key: /none", "line 2: tls-certificate: cannot read"),
      ("upstream: http://a\nupstream: http://b", "is not YAML: "), ("a: [", "is not YAML: "),
      ("upstream: &x http://a\ndir: *x", "line 1: anchors (&name) and aliases"), ("", "is empty"),
      ("5", "the file must be keys with values (got '5')"), ("\"\\ud800\"", "is not YAML"),
    ])
  func invalid(_ text: String, _ message: String) async throws {
    let path = try write(text)
    let run = await CommandRun("serve", "--config", path, "--check")
    #expect(run.status != 0)
    #expect(run.errors.hasPrefix("httpcache: \(path)"), "\(run.errors)")
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test(
    "forward beside upstream or routes is an invalid argument, wherever each of them is given",
    arguments: [
      ("routes: [{upstream: 'http://a'}]", ["--forward"]), ("upstream: http://a", ["--forward"]),
      ("routes: [{upstream: 'http://a'}]\nforward: true", []), ("memory: 1M", []),
    ] as [(String, [String])])
  func exclusive(text: String, options: [String]) async throws {
    await CommandRun.failure(.usage, ["serve", "--config", try write(text), "--check"] + options)
  }

  @Test("without a file that can be read nothing starts")
  func missing() async {
    let run = await CommandRun.failure(.usage, "serve", "--config", directory.path("none"), "--check")
    #expect(run.errors.contains("cannot be read"))
    #expect(
      await CommandRun("serve", "--check", "--upstream", "http://a").status == ExitStatus.usage.rawValue)
  }

  @Test("a host name that does not resolve is a warning")
  func unresolved() async throws {
    let path = try write(
      "listen: 127.0.0.1:0\ncapacity: 0\nupstream: http://127.0.0.1:1\nroutes: [{path: /a, upstream: 'https://none.invalid:8443/x'}]\n"
    )
    let run = await CommandRun("serve", "--config", path, "--check")
    #expect(run.status == 0 && run.output == "\(path): valid\n")
    #expect(
      run.errors == """
        httpcache: warning: the host name of https://none.invalid:8443 does not resolve; its requests get 502 until it does

        """)
  }

  @Test("routes, upstreams, fields and overrides, as YAML and as JSON")
  func everything() async throws {
    let texts = [
      """
      upstream: http://default.example/base/
      preserve-host: true
      upstreams:
        api:
          addresses: [http://10.0.0.1:8080, http://10.0.0.2:8080]
          host: api.example.com
      routes:
        - {host: "*.api.example", path: /v1, upstream: api, strip-path: true, cache: false}
      response-fields: {set: {X-A: "1"}, remove: [Server]}
      overrides:
        - {name: o, match: ["/a/**", "host:x.example"], statuses: 200, fresh: 60, drop-query: "utm_*", pin: true}
      never-store: /private/**
      """,
      """
      {"upstream": "http://default.example/base/", "preserve-host": true,
       "upstreams": {"api": {"addresses": ["http://10.0.0.1:8080", "http://10.0.0.2:8080"], "host": "api.example.com"}},
       "routes": [{"host": "*.api.example", "path": "/v1", "upstream": "api", "strip-path": true, "cache": false}],
       "response-fields": {"set": {"X-A": "1"}, "remove": ["Server"]},
       "overrides": [{"name": "o", "match": ["/a/**", "host:x.example"], "statuses": [200], "fresh": 60,
                      "drop-query": ["utm_*"], "pin": true}],
       "never-store": ["/private/**"]}
      """,
    ]
    for text in texts {
      let path = try write(text)
      let run = await CommandRun(
        "serve", "--config", path, "--check", "--listen", "127.0.0.1:0", "--capacity", "0")
      #expect(run.output == "\(path): valid\n")
      let file = try ServeFile(path)
      let command = try #require(
        try HTTPCacheCommand.parsedWithFile(["serve", "--config", path]) as? ServeCommand)
      guard case .gateway(let routes) = try command.serverMode(file) else {
        throw ConfigFailure(path, "no routes")
      }
      #expect(routes.count == 2)
      #expect(routes[0].group.addresses.count == 2 && routes[0].group.origin.authority == "api.example.com")
      #expect(routes[0].host == "*.api.example" && routes[0].stripsPath && !routes[0].isCached)
      #expect(routes[1].basePath == "/base" && routes[1].preservesHost && routes[1].path == "/")
      for route in routes {
        #expect(route.responseFields.set.map(\.value) == ["1"] && route.responseFields.removed == ["server"])
      }
      #expect(file.overrides.map(\.name) == ["o", "never-store"])
      #expect(
        file.overrides[0].effects == [.lifetime(.exactly(.seconds(60))), .pin, .droppingQuery(["utm_*"])])
      #expect(file.overrides[1].effects == [.neverStore])
    }
  }
}
