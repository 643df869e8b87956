import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The requests that the origin gets for the options of `get`.
@Suite(.timeLimit(.minutes(10))) struct RequestHeadTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func request(_ arguments: String..., path: String = "/") async throws -> [Substring] {
    let requests = try await ScriptedOrigin.requests(ofGet: arguments, path: path)
    #expect(requests.count == 1)
    return requests.first?.split(separator: "\r\n", omittingEmptySubsequences: false) ?? []
  }

  @Test("-A, -e, -b and -X set the same fields as in curl")
  func fields() async throws {
    let head = try await request("-A", "agent", "-e", "http://from/", "-b", "a=b", "-XDELETE")
    #expect(head.first == "DELETE / HTTP/1.1")
    #expect(head.contains("User-Agent: agent"))
    #expect(head.contains("Referer: http://from/"))
    #expect(head.contains("Cookie: a=b"))
  }

  @Test("-H 'Name:' removes a default, -H 'Name;' sends an empty field, -H replaces a default")
  func headers() async throws {
    let head = try await request("-H", "User-Agent:", "-H", "X-Empty;", "-H", "Accept: text/html")
    #expect(!head.contains { $0.lowercased().hasPrefix("user-agent") })
    #expect(head.contains("X-Empty: ") || head.contains("X-Empty:"))
    #expect(head.filter { $0.lowercased().hasPrefix("accept:") } == ["Accept: text/html"])
  }

  @Test("-H @FILE reads a field from each line")
  func headerFile() async throws {
    let head = try await request("-H", "@" + directory.write("X-A: 1\r\nX-B: 2\n".utf8, to: "input"))
    #expect(head.contains("X-A: 1") && head.contains("X-B: 2"))
  }

  @Test("-u sends Basic credentials, those of a URL are decoded first")
  func credentials() async throws {
    #expect(try await request("-u", "me:p:w").contains("Authorization: Basic bWU6cDp3"))
    let requests = try await ScriptedOrigin.requests { origin in
      _ = await CommandRun(
        "get", "--dir", directory.path("cache"), "http://me:p%40w@\(origin.authority)/")
    }
    #expect(requests.first?.contains("Authorization: Basic bWU6cEB3\r\n") == true)
  }

  @Test("--netrc-file gives the password of the host")
  func netrc() async throws {
    let path = try directory.write("machine 127.0.0.1 login me password pw".utf8, to: "input")
    #expect(try await request("--netrc-file", path).contains("Authorization: Basic bWU6cHc="))
  }

  @Test("-r asks for a range, without a coding, since a part of gzip cannot be decoded")
  func range() async throws {
    let head = try await request("-r", "-500")
    #expect(head.contains("Range: bytes=-500"))
    #expect(!head.contains { $0.lowercased().hasPrefix("accept-encoding") })
  }

  @Test("-I asks with HEAD and writes the head")
  func head() async throws {
    let head = try await request("-I", "-o", directory.path("out"))
    #expect(head.first == "HEAD / HTTP/1.1")
    let written = String(decoding: directory.file("out").bytes ?? [], as: UTF8.self)
    #expect(written.hasPrefix("HTTP 200 OK\n"))
  }

  @Test("-k neither reads nor writes the cache, and says so")
  func insecure() async throws {
    let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok"
    let requests = try await ScriptedOrigin.requests(answer) { origin in
      for _ in 1...2 {
        let run = await CommandRun(
          "get", "--dir", directory.path("cache"), origin.authority, "-k", "-o", directory.path("out"))
        #expect(run.errors.contains("--insecure: certificates are not checked, and the cache is not used"))
        #expect(run.errors.contains(": miss (--insecure), not stored: --insecure; "), "\(run.errors)")
      }
    }
    #expect(requests.count == 2)
  }

  @Test("-L, -sS and --max-redirs are accepted as curl's")
  func accepted() async throws {
    #expect(try await request("-sSL", "--max-redirs", "5").first == "GET / HTTP/1.1")
    #expect(try await request("-L", "--max-redirs", "-1").first == "GET / HTTP/1.1")
    let refused = await CommandRun("get", "--max-redirs", "-2", "http://127.0.0.1:1/")
    #expect(refused.errors.contains("--redirects must be from 0 to 100, or -1 for the most (got -2)"))
  }

  @Test("-s prints nothing, -sS prints failures")
  func silence() async throws {
    let silent = await CommandRun("get", "-s", "http://127.0.0.1:1/", "--dir", directory.path("cache"))
    #expect(silent.errors.isEmpty && silent.status == ExitStatus.unreachable.rawValue)
    let shown = await CommandRun("get", "-sS", "http://127.0.0.1:1/", "--dir", directory.path("cache"))
    #expect(shown.errors.contains("Connection refused"))
  }

  @Test("explain asks with the fields that get sends")
  func explain() async throws {
    let answer =
      "HTTP/1.1 200 OK\r\nVary: User-Agent, X-A\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok"
    _ = try await ScriptedOrigin.requests(answer) { origin in
      let cache = directory.path("cache")
      _ = await CommandRun("get", "--dir", cache, origin.authority, "-H", "X-A: 1", "-o", directory.path("1"))
      let run = await CommandRun("explain", "--dir", cache, origin.authority, "-H", "X-A: 1")
      #expect(run.output.contains("What is done? reuse"), "\(run.output)\(run.errors)")
    }
  }
}
