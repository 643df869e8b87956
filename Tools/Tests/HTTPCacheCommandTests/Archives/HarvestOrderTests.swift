import Foundation
import HTTPCacheTesting
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The limits of a harvest hold in the order of its URLs, in whichever order they arrive.
@Suite(.timeLimit(.minutes(10))) struct HarvestOrderTests {
  /// A response whose body waits for one gate, and opens another one at its end.
  private func resource(
    _ body: String, type: String = "text/plain", waits: Gate? = nil, opens: Gate? = nil
  ) -> ScriptedResponse {
    // Without a length, so that only its bytes tell that it is too long.
    var response = ScriptedResponse(headers: ["Content-Type": type], chunks: [BodyBytes(Array(body.utf8))])
    if let waits { response = response.stalling(at: waits) }
    if let opens {
      let end = Gate()
      end.open()
      response.steps.append(.wait(end))
      Task {
        await end.waitForArrivals(1)
        opens.open()
      }
    }
    return response
  }

  /// Fetches the paths that are given, and returns those that were recorded, and the reports.
  private func harvest(
    _ resources: [String: ScriptedResponse], _ paths: [String], _ role: Harvest.Role = .plain,
    limit: Int = 100, bytes: Int64 = 1 << 20
  ) async throws -> (recorded: Set<String>, reports: [String]) {
    let directory = try ScratchFolder()
    let reports = LineRecorder()
    let origin = ScriptedUpstream { resources[$0.head.path ?? ""] ?? ScriptedResponse(status: 404) }
    let harvest = try Harvest(
      origin, recording: directory.path("site.har"), limit: limit, byteLimit: bytes,
      report: { reports.add($0) })
    let count = try await harvest.run(paths.map { ("https://site.example" + $0, role) })
    let text = String(decoding: try #require(directory.file("site.har").bytes), as: UTF8.self)
    let recorded = Set(resources.keys.filter { text.contains("\($0)\"") })
    #expect(recorded.count == count)
    return (recorded, reports.lines)
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("bodies take the bytes of --max-size in the order of the list; one that is left out takes none")
  func bytes() async throws {
    let gate = Gate()
    let resources = [
      "/a": resource(text(60), waits: gate), "/b": resource(text(50)),
      "/c": resource(text(30), opens: gate), "/d": resource(text(20)),
      "/e": resource(text(10)), "/f": resource(""),
    ]
    let (recorded, reports) = try await harvest(resources, ["/a", "/b", "/c", "/d", "/e", "/f"], bytes: 100)
    #expect(recorded == ["/a", "/c", "/e"])
    #expect(
      reports.contains("https://site.example/b: longer than the 40 bytes that are left of --max-size"),
      "\(reports)")
  }

  @Test("bodies that have arrived wait for those before them without holding up the transfers of others")
  func waiting() async throws {
    let gate = Gate()
    let names = (0..<10).map { "/p\($0)-" }
    var resources = Dictionary(uniqueKeysWithValues: names.map { ($0, resource(text(1))) })
    resources[names[0]] = resource(text(1), waits: gate)
    resources[names[9]] = resource(text(1), opens: gate)
    #expect(try await harvest(resources, names).recorded == Set(names))
  }

  @Test("--limit takes what the first page names, although the second page arrives first")
  func references() async throws {
    let gate = Gate()
    let resources = [
      "/one": resource("<img src=/x1><img src=/x2>", type: "text/html", waits: gate),
      "/two": resource("<img src=/y1><img src=/y2>", type: "text/html", opens: gate),
      "/x1": resource("x"), "/x2": resource("x"), "/y1": resource("y"),
      "/y2": resource("y"),
    ]
    let (recorded, reports) = try await harvest(resources, ["/one", "/two"], .page, limit: 4)
    #expect(recorded == ["/one", "/two", "/x1", "/x2"])
    #expect(reports == ["more than 4 URLs: the rest was not fetched (--limit)"])
  }
}
