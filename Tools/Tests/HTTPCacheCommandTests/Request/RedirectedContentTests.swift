import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Redirects of `-d` and `-T` (RFC 9110 §15.4).
@Suite(.timeLimit(.minutes(10))) struct RedirectedContentTests {
  /// Runs `get` for an origin that redirects the first request.
  private func get(
    _ arguments: String..., status: Int, location: String = "/next"
  ) async throws -> (run: CommandRun, requests: [ScriptedOrigin.Request]) {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin { request in
      request.number == 0
        ? ScriptedOrigin.Answer(head: "HTTP/1.1 \(status) R\r\nContent-Length: 0\r\nLocation: \(location)")
        : ScriptedOrigin.Answer(head: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: Array("ok".utf8))
    }
    let run = await CommandRun(
      ["get", "--dir", directory.path("cache"), "-o", directory.path("out"), origin.authority + "/"]
        + arguments)
    return (run, origin.requests)
  }

  @Test("307 and 308 get the content of -d again, with its fields", arguments: [307, 308])
  func data(_ status: Int) async throws {
    let got = try await get("-d", "a=1", status: status)
    #expect(got.run.status == 0, "\(got.run.errors)")
    #expect(got.requests.last?.line == "POST /next HTTP/1.1")
    #expect(got.requests.last?.fields["content-type"] == "application/x-www-form-urlencoded")
    #expect(got.requests.last?.text.hasSuffix("\r\n\r\na=1") == true)
  }

  @Test("so do 301 and 302 of other methods than POST", arguments: [301, 302, 307, 308])
  func upload(_ status: Int) async throws {
    let directory = try ScratchFolder()
    try directory.write("content".utf8, to: "in")
    let got = try await get("-T", directory.path("in"), status: status)
    #expect(got.run.status == 0, "\(got.run.errors)")
    #expect(got.requests.last?.line == "PUT /next HTTP/1.1")
    #expect(got.requests.last?.text.hasSuffix("\r\n\r\ncontent") == true)
  }

  @Test("303, and 301 and 302 of a POST, lead to a GET without content", arguments: [301, 302, 303])
  func withoutContent(_ status: Int) async throws {
    let got = try await get("-d", "a=1", status: status)
    #expect(got.run.status == 0, "\(got.run.errors)")
    #expect(got.requests.last?.line == "GET /next HTTP/1.1")
    #expect(got.requests.last?.fields["content-type"] == nil)
    #expect(got.requests.last?.text.hasSuffix("\r\n\r\n") == true)
  }

  @Test("another origin gets the content, but no Authorization")
  func otherOrigin() async throws {
    let requests = try await ScriptedOrigin.requests { other in
      let got = try await get("-d", "a=1", "-u", "me:pw", status: 307, location: other.base + "/other")
      #expect(got.run.status == 0, "\(got.run.errors)")
      #expect(got.requests.first?.fields["authorization"] != nil)
    }
    #expect(requests.first?.hasPrefix("POST /other ") == true)
    #expect(requests.first?.hasSuffix("\r\n\r\na=1") == true)
    #expect(requests.first?.lowercased().contains("authorization") == false)
  }

  @Test("content that cannot be read again is a failure that says so")
  func notFollowed() async throws {
    let got = try await get("-T", "/dev/null", status: 307)
    #expect(got.run.status == ExitStatus.brokenProtocol.rawValue)
    #expect(
      got.run.errors.contains(
        "the redirect (307) to '/next' requires the content again, which cannot be read again: /dev/null is not "
          + "a regular file"), "\(got.run.errors)")
    #expect(got.requests.count == 1)
  }

  @Test("only what is not a regular file cannot be read again")
  func repeatable() {
    #expect(RequestContent.standardInput(from: 7).isRepeatable)
    #expect(!RequestContent.standardInput(from: nil).isRepeatable)
    #expect(RequestContent.bytes(BodyBytes([97])).isRepeatable)
    #expect(RequestContent.file("/etc/hosts").isRepeatable)
    #expect(!RequestContent.file("/dev/null").isRepeatable)
  }
}
