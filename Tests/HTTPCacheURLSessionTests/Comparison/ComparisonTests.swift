import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Takes equal steps with Foundation alone and with this module, and prints a document.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ComparisonTests {
  /// The file with the output of these tests; `scripts/urlsession-compared.sh` writes and checks it.
  private static let document = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("docs/urlsession-compared.md")

  #if canImport(FoundationNetworking)
    @Test func documentSaysWhatHappens() async throws {
      let text = try await Self.text()
      print(text)
      if ProcessInfo.processInfo.environment["URLSESSION_COMPARED"] == "write" {
        try Data(text.utf8).write(to: Self.document, options: .atomic)
      }
      let written = try String(contentsOf: Self.document, encoding: .utf8)
      #expect(written == text, "run scripts/urlsession-compared.sh")
    }
  #endif

  private static func text() async throws -> String {
    let folder = try ScratchFolder()
    var columns: [(name: String, results: [(step: String, result: String)])] = []
    for client in [
      ComparedClient.foundation(), try .withProtocol(), try .cachedSession(),
    ] {
      var steps = try ComparedSteps(client)
      await steps.run()
      columns.append((client.name, steps.results))
    }
    var caches: [(name: String, results: [(step: String, result: String)])] = []
    for (name, make) in [
      (
        "`URLCache`",
        {
          URLCache(
            memoryCapacity: 4 << 20, diskCapacity: 20 << 20,
            diskPath: folder.path("foundation"))
        }
      ),
      (
        "`HTTPURLCache`",
        {
          HTTPURLCache(
            memoryCapacity: 4 << 20, diskCapacity: 20 << 20,
            directory: folder.url("ours")) as URLCache
        }
      ),
    ] as [(String, () -> URLCache)] {
      var compared = ComparedURLCache(make)
      compared.run()
      caches.append((name, compared.results))
    }
    return """
      # URLSession on Linux, with and without this package

      What happens when the same program runs against Foundation alone and against ours, on Linux. Written
      by `scripts/urlsession-compared.sh`, which runs it; `scripts/urlsession-compared.sh --check` tells
      whether it still holds.

      ## Loading

      \(table(columns))
      What Foundation answers a 401 with is not in the table: without credentials it never ends the task.

      ## Storing and asking by hand

      \(table(caches))
      """
  }

  private static func table(
    _ columns: [(name: String, results: [(step: String, result: String)])]
  ) -> String {
    var text = "| | " + columns.map(\.name).joined(separator: " | ") + " |\n"
    text += "|---|" + columns.map { _ in "---|" }.joined() + "\n"
    for (index, row) in (columns.first?.results ?? []).enumerated() {
      let cells = columns.map { $0.results.indices.contains(index) ? $0.results[index].result : "" }
      text += "| \(row.step) | " + cells.joined(separator: " | ") + " |\n"
    }
    return text
  }
}
