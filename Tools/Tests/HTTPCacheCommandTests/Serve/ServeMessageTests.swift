import ArgumentParser
import Foundation
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("What serve says when it cannot start", .timeLimit(.minutes(10))) struct ServeMessageTests {
  private func failure(_ arguments: String...) async -> String {
    let run = await CommandRun(["serve", "--upstream", "http://127.0.0.1:9", "--disk", "0"] + arguments)
    #expect(run.status != 0)
    return run.errors.split(separator: "\n").first.map(String.init) ?? ""
  }

  @Test("an address that is in use")
  func addressInUse() async throws {
    let origin = try await ScriptedOrigin("")
    let address = String(origin.base.dropFirst("http://".count))
    #expect(
      await failure("--listen", address) == "httpcache: cannot listen on \(address): address already in use")
  }

  @Test("a host name that does not resolve")
  func unknownHost() async {
    #expect(
      await failure("--listen", "nobody.invalid:8080", "--allow-remote")
        == "httpcache: cannot listen on nobody.invalid:8080: the host name does not resolve")
  }

  @Test("an address that is not of this machine")
  func foreignAddress() async {
    #expect(
      await failure("--listen", "192.0.2.1:8080", "--allow-remote")
        == "httpcache: cannot listen on 192.0.2.1:8080: this machine does not have the address")
  }

  @Test("a port that is not permitted")
  func forbiddenPort() {
    let error = IOError(errnoCode: EACCES, reason: "bind")
    #expect(
      StartFailure(listening: ListenAddress(host: "127.0.0.1", port: 80), error).description
        == "cannot listen on 127.0.0.1:80: permission denied (ports below 1024 need root or the capability CAP_NET_BIND_SERVICE)"
    )
  }

  @Test("files of TLS that are missing, empty, or do not belong together")
  func tlsFiles() async throws {
    let directory = try ScratchFolder()
    let missing = directory.path("missing.pem")
    let empty = try directory.write("".utf8, to: "empty.pem")
    let certificate = try directory.write(Self.certificate.utf8, to: "certificate.pem")
    let key = try directory.write(Self.otherKey.utf8, to: "key.pem")
    let pipe = directory.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let cases = [
      (missing, key, "cannot read the certificate \(missing): no such file"),
      (pipe, key, "cannot read the certificate \(pipe): not a regular file"),
      (certificate, pipe, "cannot read the private key \(pipe): not a regular file"),
      (certificate, missing, "cannot read the private key \(missing): no such file"),
      (empty, key, "\(empty) has no certificate in PEM format"),
      (certificate, empty, "\(empty) has no private key in PEM format without a passphrase"),
      (directory.path, key, "cannot read the certificate \(directory.path): is a directory"),
      (certificate, key, "the private key \(key) does not fit the certificate \(certificate)"),
    ]
    for (certificate, key, message) in cases {
      #expect(await failure("--tls-certificate", certificate, "--tls-key", key) == "httpcache: \(message)")
    }
    #expect(
      await failure("--upstream-ca", missing)
        == "httpcache: cannot read the certificate \(missing): no such file")
  }

  @Test(
    "options that do not go together, or are out of range",
    arguments: [
      (
        [], "serve requires one of --upstream URL and --forward, or --config FILE with one of them or routes."
      ),
      (
        ["--upstream", "http://a", "--listen", "0.0.0.0:80"],
        "--listen 0.0.0.0:80 can be reached from other machines; --allow-remote allows that."
      ),
      (
        ["--forward", "--listen", "0.0.0.0:80", "--allow-remote"],
        "--forward on 0.0.0.0:80 requires --allow HOST; --allow '*' allows every host."
      ),
      (["--upstream", "http://a", "--allow", "b"], "--allow requires --forward."),
      (["--upstream", "http://a", "--http-port", "80"], "--http-port requires --forward."),
      (["--forward", "--preserve-host"], "--preserve-host requires --upstream."),
      (["--forward", "--http-port", "0"], "--http-port must be between 1 and 65535 (got 0)."),
      (["--upstream", "http://a", "--tls-key", "k"], "--tls-key requires --tls-certificate."),
      (
        ["--upstream", "http://a", "--timeout", "0"], "--timeout must be between 1 and 3600 seconds (got 0)."
      ),
      (
        ["--upstream", "http://u@a"],
        "--upstream requires an http or https URL without user information (got 'http://…@a')."
      ),
      (
        ["--upstream", "http://u:secret@a"],
        "--upstream requires an http or https URL without user information (got 'http://…@a')."
      ),
      (
        ["--upstream", "http://u:p#w@a"],
        "--upstream requires an http or https URL without user information (got 'http://…@a')."
      ),
      (
        ["--upstream", "http://a/?x=u:p@b"],
        "--upstream requires a URL without query and fragment (got 'http://…@b')."
      ),
    ] as [([String], String)])
  func options(_ arguments: [String], _ message: String) {
    do {
      _ = try ServeCommand.parse(arguments)
      Issue.record("\(arguments) are accepted")
    } catch {
      #expect(ServeCommand.message(for: error) == message)
    }
  }

  @Test(
    "without an origin, a misspelt option and a URL without its option are named",
    arguments: [
      (
        ["http://u:secret@a"],
        "Unexpected argument 'http://…@a'; serve requires one of --upstream URL and --forward, "
      ),
      (
        ["--shared", "a", "b"],
        "2 unexpected arguments: 'a', 'b'; serve requires one of --upstream URL and --forward, "
      ),
      (["--upstrem", "http://a"], "Unknown option '--upstrem'. Did you mean '--upstream'?"),
    ])
  func stray(arguments: [String], message: String) async {
    let run = await CommandRun.failure(.usage, ["serve"] + arguments)
    #expect(run.errors.hasPrefix("Error: \(message)"), "\(run.errors)")
  }

  @Test("help shows where requests go first, and every option with its meaning")
  func help() throws {
    let help = ServeCommand.helpMessage(columns: 200)
    let titles = [
      "WHERE REQUESTS GO:", "OPTIONS OF --UPSTREAM:", "OPTIONS OF --FORWARD:", "TLS:", "OPTIONS:",
    ]
    let places = titles.compactMap { help.range(of: "\n\($0)\n")?.lowerBound }
    #expect(places.count == titles.count)
    #expect(places == places.sorted())
    #expect(help.contains("httpcache serve --upstream https://example.com\n"))
    #expect(help.contains("httpcache serve --forward --listen 127.0.0.1:3128\n"))
  }

  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBgDCCASWgAwIBAgIUce/xp8s+ogHV86dF+iAwKg7E72kwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE5NDYxMFoYDzIxMjYxMDI5
    MTk0NjEwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAAQNVz5hiiOaqEotXZVDaugslDb53w/yVk9BZMoTaEsRqkvc3cC3koB8
    HcrrFhVjhZw/o+dpiK/RAzKNwnOJasyEo1MwUTAdBgNVHQ4EFgQU7IsmED2t613Y
    /+r5oyfceJT8Tf4wHwYDVR0jBBgwFoAU7IsmED2t613Y/+r5oyfceJT8Tf4wDwYD
    VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA6stUKkXkOvNKh83a6HMh
    kuFZvG3mkI8WMmrSk1rvwz0CIQCrXvvwMnZR4Y3wgITv9xcx6Du2fNU5RyLmeUSr
    48nr8w==
    -----END CERTIFICATE-----
    """

  private static let otherKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVnKxuTJC7ujbC+dc
    b3c9dX272lmye/K09Y4bV8iF9l6hRANCAASCw+RZ4ykST3Glg2+BtK/O0wtEOUcY
    ktGdmoEkmXAocxOZ6WjayPUiv36r34IUCPFBbVwY8ZEada922Ov6n936
    -----END PRIVATE KEY-----
    """
}
