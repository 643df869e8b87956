import ArgumentParser
import Foundation
import NIOSSL
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Certificates by the name that a client asks for", .timeLimit(.minutes(10))) struct ServerIdentityTests
{
  @Test(
    "a name, or a whole leftmost label",
    arguments: [
      ("a.example", "a.example", true), ("a.example", "b.example", false),
      ("*.example.com", "a.example.com", true),
      ("*.example.com", "a.b.example.com", false), ("*.example.com", "example.com", false),
      ("*.example.com", ".example.com", false), ("*", "a", false), ("", "a", false),
    ])
  func matching(name: String, host: String, isMatch: Bool) {
    #expect(ServerIdentity.matches(name, host) == isMatch)
  }

  @Test("files that are read again keep the least version of TLS, which counts after a restart")
  func leastVersion() throws {
    let directory = try ScratchFolder()
    let certificate = try directory.write(TestCertificate.certificate.utf8, to: "certificate.pem")
    let key = try directory.write(TestCertificate.key.utf8, to: "key.pem")
    func files(_ version: String) throws -> ServeFiles {
      let options = ["--tls-certificate", certificate, "--tls-key", key, "--tls-min-version", version]
      return try ServeFiles(try ServeCommand.parse(["--upstream", "http://127.0.0.1:1"] + options))
    }
    let (old, new) = (try files("1.2"), try files("1.3"))
    #expect(old.configuration(of: new)?.minimumTLSVersion == .tlsv12)
    #expect(new.configuration(of: old)?.minimumTLSVersion == .tlsv13)
  }

  @Test(
    "each certificate needs its key",
    arguments: [
      (["--tls-certificate", "a", "--tls-certificate", "b", "--tls-key", "k"], "(got 2 and 1)"),
      (["--tls-key", "k"], "--tls-key requires --tls-certificate"),
      (["--tls-certificate", "c"], "--tls-certificate requires --tls-key"),
    ])
  func pairs(arguments: [String], message: String) {
    do {
      _ = try ServeCommand.parse(["--upstream", "http://127.0.0.1:1"] + arguments)
      Issue.record("accepted")
    } catch {
      #expect(ServeCommand.fullMessage(for: error).contains(message))
    }
  }
}
