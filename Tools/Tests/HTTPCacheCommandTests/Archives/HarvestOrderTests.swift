import Foundation
import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheCommand

/// The limits of a harvest hold in the order of its URLs, in whichever order they arrive.
@Suite(.timeLimit(.minutes(10))) struct HarvestOrderTests {
  private struct Resource: Sendable {
    var body: String
    var type = "text/plain"
    /// The body waits for this gate, and opens the other one at its end.
    var waits: Gate?
    var opens: Gate?
  }

  private struct Origin: Upstream {
    let resources: [String: Resource]

    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      guard let resource = resources[request.head.path ?? ""] else {
        return UpstreamResponse(head: HTTPResponse(status: .notFound), body: .empty)
      }
      return UpstreamResponse(
        head: HTTPResponse(status: .ok, headerFields: [.contentType: resource.type]),
        body: MessageBody(Body(resource)))
    }
  }

  private final class Body: BodySource {
    private let resource: Resource
    private let isGiven = Atomic<Bool>(false)

    init(_ resource: Resource) { self.resource = resource }

    // Unknown, so that only its bytes tell that it is too long.
    var length: Int64? { nil }
    var trailers: HTTPFields { [:] }

    func next() async throws -> BodyBytes? {
      try await resource.waits?.pass()
      if !isGiven.exchange(true, ordering: .relaxed) { return BodyBytes(Array(resource.body.utf8)) }
      resource.opens?.open()
      return nil
    }

    func cancel() {}
  }

  /// Fetches the paths that are given, and returns those that were recorded, and the reports.
  private func harvest(
    _ resources: [String: Resource], _ paths: [String], _ role: Harvest.Role = .plain, limit: Int = 100,
    bytes: Int64 = 1 << 20
  ) async throws -> (recorded: Set<String>, reports: [String]) {
    let directory = try TemporaryDirectory()
    let reports = Log()
    let harvest = try Harvest(
      Origin(resources: resources), recording: directory.file("site.har"), limit: limit, byteLimit: bytes
    ) { report in reports.lines.withLock { $0.append(report) } }
    let count = try await harvest.run(paths.map { ("https://site.example" + $0, role) })
    let text = String(decoding: try #require(directory.contents("site.har")), as: UTF8.self)
    let recorded = Set(resources.keys.filter { text.contains("\($0)\"") })
    #expect(recorded.count == count)
    return (recorded, reports.lines.withLock { $0 })
  }

  private final class Log: Sendable {
    let lines = Mutex<[String]>([])
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("bodies take the bytes of --max-size in the order of the list; one that is left out takes none")
  func bytes() async throws {
    let gate = Gate()
    let resources = [
      "/a": Resource(body: text(60), waits: gate), "/b": Resource(body: text(50)),
      "/c": Resource(body: text(30), opens: gate), "/d": Resource(body: text(20)),
      "/e": Resource(body: text(10)), "/f": Resource(body: ""),
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
    var resources = Dictionary(uniqueKeysWithValues: names.map { ($0, Resource(body: text(1))) })
    resources[names[0]]?.waits = gate
    resources[names[9]]?.opens = gate
    #expect(try await harvest(resources, names).recorded == Set(names))
  }

  @Test("--limit takes what the first page names, although the second page arrives first")
  func references() async throws {
    let gate = Gate()
    let resources = [
      "/one": Resource(body: "<img src=/x1><img src=/x2>", type: "text/html", waits: gate),
      "/two": Resource(body: "<img src=/y1><img src=/y2>", type: "text/html", opens: gate),
      "/x1": Resource(body: "x"), "/x2": Resource(body: "x"), "/y1": Resource(body: "y"),
      "/y2": Resource(body: "y"),
    ]
    let (recorded, reports) = try await harvest(resources, ["/one", "/two"], .page, limit: 4)
    #expect(recorded == ["/one", "/two", "/x1", "/x2"])
    #expect(reports == ["more than 4 URLs: the rest was not fetched (--limit)"])
  }
}
