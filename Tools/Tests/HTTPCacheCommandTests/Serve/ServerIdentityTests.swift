import ArgumentParser
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
