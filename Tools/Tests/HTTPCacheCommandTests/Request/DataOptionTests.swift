import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// `-d` and its kin, `-G` and `-T`, as an origin gets them.
@Suite(.timeLimit(.minutes(10))) struct DataOptionTests {
  private func request(_ arguments: String..., path: String = "/") async throws -> String {
    try await ScriptedOrigin.requests(ofGet: arguments, path: path).first ?? ""
  }

  @Test("-d posts a form; several are joined in the order of the command line, whatever their kind")
  func form() async throws {
    let request = try await request("-d", "a=1", "--data-urlencode", "b=x y&z", "--data-raw", "@c", "-dd=4")
    #expect(request.hasPrefix("POST / HTTP/1.1\r\n"))
    #expect(request.contains("Content-Type: application/x-www-form-urlencoded\r\n"))
    #expect(request.hasSuffix("\r\n\r\na=1&b=x+y%26z&@c&d=4"))
  }

  @Test("-H gives another Content-Type than that of a form")
  func contentType() async throws {
    let request = try await request("-d", "{}", "-H", "Content-Type: application/json")
    #expect(request.contains("Content-Type: application/json\r\n"))
    #expect(!request.contains("urlencoded"))
  }

  @Test("-d @FILE drops line ends, --data-binary keeps them")
  func files() async throws {
    let directory = try ScratchFolder()
    let path = try directory.write("a\r\nb\n".utf8, to: "input")
    #expect(try await request("-d", "@" + path).hasSuffix("\r\n\r\nab"))
    #expect(try await request("--data-binary", "@" + path).hasSuffix("\r\n\r\na\r\nb\n"))
    #expect(try await request("--data-urlencode", "n@" + path).hasSuffix("\r\n\r\nn=a%0D%0Ab%0A"))
  }

  @Test("-G adds the data to the query and asks with GET")
  func query() async throws {
    let request = try await request("-G", "-d", "a=1 2", "--data-urlencode", "b=#", path: "/p?z=0")
    #expect(request.hasPrefix("GET /p?z=0&a=1%202&b=%23 HTTP/1.1\r\n"))
    #expect(request.hasSuffix("\r\n\r\n"))
  }

  @Test("-T puts a file, under its own name where the URL ends in a slash")
  func upload() async throws {
    let directory = try ScratchFolder()
    let path = try directory.write(String(repeating: "x", count: 200_000).utf8, to: "input")
    let request = try await request("-T", path, path: "/up/")
    #expect(request.hasPrefix("PUT /up/input HTTP/1.1\r\n"))
    #expect(request.lowercased().contains("content-length: 200000\r\n"))
    #expect(request.hasSuffix("\r\n\r\n" + String(repeating: "x", count: 200_000)))
  }

  @Test("a directory is a usage error, and nothing is put")
  func directory() async throws {
    let directory = try ScratchFolder()
    for option in [["-d", "@\(directory.path)"], ["-T", directory.path]] {
      let requests = try await ScriptedOrigin.requests { origin in
        let run = await CommandRun.failure(
          .usage, ["get", "--dir", directory.path("cache"), origin.authority] + option)
        #expect(run.errors == "httpcache: cannot read \(directory.path): is a directory\n")
      }
      #expect(requests.isEmpty)
    }
  }

  @Test("a file that is not there is a usage error before anything is asked")
  func missing() async throws {
    let directory = try ScratchFolder()
    for option in [["-d", "@/no/file"], ["-T", "/no/file"], ["-H", "@/no/file"]] {
      let requests = try await ScriptedOrigin.requests { origin in
        let run = await CommandRun.failure(
          .usage, ["get", "--dir", directory.path("cache"), origin.authority] + option)
        #expect(run.errors == "httpcache: cannot read /no/file: no such file\n")
      }
      #expect(requests.isEmpty)
    }
  }

  @Test(
    "options that contradict each other are usage errors",
    arguments: [["-I", "-d", "x"], ["-T", "/dev/zero", "-d", "x"], ["-G", "-T", "/dev/zero"], ["-J"]])
  func contradictions(options: [String]) async throws {
    await CommandRun.failure(.usage, ["get", "http://127.0.0.1:1/"] + options)
  }
}
