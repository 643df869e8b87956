import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Forms of responses that a client takes, and names if it refuses them", .timeLimit(.minutes(10)))
struct LenientResponseTests {
  /// - Returns: the run, and the file that it wrote.
  private func get(
    _ response: String, _ options: String...
  ) async throws -> (run: CommandRun, content: String?) {
    let directory = try ScratchFolder()
    let bytes = response.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    let origin = try await ScriptedOrigin(bytes: bytes)
    let arguments = [
      "get", "--dir", directory.path("cache"), "-o", directory.path("body"), origin.base + "/",
    ]
    let run = await CommandRun(arguments + options)
    return (run, directory.file("body").bytes.map { String(decoding: $0, as: UTF8.self) })
  }

  static let taken: [(String, String)] = [
    ("a folded line (RFC 9112 §5.2)", "HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\n\r\nok"),
    ("a tab in a fold", "HTTP/1.1 200 OK\r\nX-A: one, \r\n\t two\r\n\tthree\r\nContent-Length: 2\r\n\r\nok"),
    ("a folded length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok"),
    (
      "white space before a chunk extension",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 ; a=b\r\nok\r\n0\r\n\r\n"
    ),
    (
      "white space in a chunk extension",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a = b\r\nok\r\n0\r\n\r\n"
    ),
    (
      "zeros in front of chunk sizes (RFC 9112 §7.1)",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "0000000000000002\r\nok\r\n0000000000000000\r\n\r\n"
    ),
    ("a padded chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2   \r\nok\r\n0 \r\n\r\n"),
    ("space before a colon", "HTTP/1.1 200 OK\r\nX-A : one\r\nContent-Length: 2\r\n\r\nok"),
    ("the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
    ("the same length twice in one field", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"),
    ("lines that end in LF", "HTTP/1.1 200 OK\nX-A: one\nContent-Length: 2\n\nok"),
    (
      "a 103 with Connection: close",
      "HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    ),
    ("a response up to the end of the connection", "HTTP/1.1 200 OK\r\n\r\nok"),
    ("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ("a later minor version (RFC 9110 §2.5)", "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ("no reason phrase", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"),
    (
      "trailers",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nX-T: 1\r\n\r\n"
    ),
    (
      "folded trailers",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n 2\r\n\r\n"
    ),
    (
      "chunks whose lines end in LF",
      "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1;a=b\no\n1 \nk\n0\nX-T: 1\n\n"
    ),
    ("the coding identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok"),
    (
      "control characters in a value",
      "HTTP/1.1 200 O\u{1}K\r\nX-A: a\u{1}b\u{7f}c\r\nContent-Length: 2\r\n\r\nok"
    ),
    ("a length with many zeros", "HTTP/1.1 200 OK\r\nContent-Length: 0000000000000000000000002\r\n\r\nok"),
  ]

  @Test("get takes them", arguments: taken.indices)
  func takes(_ index: Int) async throws {
    let (name, response) = Self.taken[index]
    let (run, content) = try await get(response)
    #expect(run.status == 0 && content == "ok", "\(name): \(run.errors)")
  }

  @Test("a folded value is one line with a space")
  func folded() async throws {
    let (_, content) = try await get(
      "HTTP/1.1 200 OK\r\nX-A: one, \r\n\t two\r\nContent-Length: 2\r\n\r\nok", "-i")
    let lines = content?.split(whereSeparator: \.isNewline) ?? []
    #expect(lines.contains { $0.lowercased() == "x-a: one, two" }, "\(content ?? "-")")
  }

  private static let refused: [(String, String)] = [
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
      "several Content-Length values that differ"
    ),
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "Content-Length with Transfer-Encoding"
    ),
    ("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "a field line without a colon"),
    ("HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "a folded field line"),
    ("HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n\r\n", "NUL or CR in the field X"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "an invalid chunk size"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok0\r\n\r\n", "a chunk that does not end"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\n2\nok\n0\n\n", "an invalid chunk size"),
    ("SSH-2.0-OpenSSH\r\n", "an invalid status line"),
  ]

  @Test("get names what it refuses", arguments: refused.indices)
  func names(_ index: Int) async throws {
    let (response, reason) = Self.refused[index]
    let (run, _) = try await get(response)
    #expect(run.status == ExitStatus.brokenProtocol.rawValue)
    #expect(run.errors.contains(reason), "\(run.errors)")
  }
}
