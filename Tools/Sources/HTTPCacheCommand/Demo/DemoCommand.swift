import ArgumentParser
import Foundation
import HTTPCaching

/// `httpcache demo`: shows a cache at work, with an origin on this machine.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Fetch five things twice from an origin on this machine.",
    discussion: """
      Needs no network. Starts an origin on the loopback interface, fetches through a cache in a \
      temporary directory, prints what happened, and removes the directory. Fails if a second fetch \
      does not end as it must.
      """)

  func run() async throws {
    try await Interruption.cancelling { try await demonstrate() }
  }

  private func demonstrate() async throws {
    let directory = NSTemporaryDirectory() + "httpcache-demo-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let recorder = StorageRecorder { Console.report("httpcache: \($0)") }
    let cache: HTTPCache
    do {
      cache = try HTTPCache.open(
        HTTPCache.Configuration(
          directory: directory, memoryCapacity: 8 << 20, diskCapacity: 512 << 20,
          largestEntry: .bytes(128 << 20), observer: recorder))
    } catch {
      throw ExitStatus.reporting(error)
    }
    let isAsExpected = try await DemoOrigin.withOrigin { origin in
      try await OriginClient.withUpstream { upstream in
        let fetcher = Fetcher(
          cache: cache, upstream: upstream, recorder: recorder,
          meter: ProgressMeter(transfers: 0, isShown: false))
        return try await fetchTwice(from: origin, with: fetcher)
      }
    }
    await cache.flush()
    guard isAsExpected else { throw ExitStatus.failure.code }
  }

  private func fetchTwice(from origin: DemoOrigin, with fetcher: Fetcher) async throws -> Bool {
    Console.print("an origin at \(origin.base), a private cache in a temporary directory\n")
    var rounds: [[TransferReport]] = []
    var sent: [Int] = []
    for _ in 0..<2 {
      let before = origin.meter.bytes
      var reports: [TransferReport] = []
      for resource in DemoResource.allCases {
        let url = try TargetURL(parsing: origin.base + resource.rawValue)
        reports.append(
          await fetcher.fetch(
            url.request(), url: url.text, content: nil, to: .nowhere, within: .seconds(600),
            of: RetryBudget(RetryBudget.Rule()) { _ in }))
      }
      rounds.append(reports)
      sent.append(origin.meter.bytes - before)
    }
    var table = TextTable(
      ["", "first", "", "second", ""], [.leading, .leading, .trailing, .leading, .trailing])
    for (index, resource) in DemoResource.allCases.enumerated() {
      table.add(
        [resource.purpose] + rounds.flatMap { [$0[index].text, HumanText.duration($0[index].elapsed)] })
    }
    table.lines.forEach(Console.print)
    Console.print(
      "\nthe origin sent \(HumanText.bytes(Int64(sent[0]))) the first time and "
        + "\(HumanText.bytes(Int64(sent[1]))) the second: "
        + "\(HumanText.share(Int64(sent[0] - sent[1]), of: Int64(sent[0]))) saved")
    return zip(DemoResource.allCases, rounds[1]).allSatisfy(Self.isAsExpected)
  }

  private static func isAsExpected(_ resource: DemoResource, _ report: TransferReport) -> Bool {
    if report.json.outcome == resource.expectedWord { return true }
    Console.report(
      "httpcache: the second fetch of \(resource.rawValue) must end as '\(resource.expectedWord)', "
        + "but ended as: \(report.text)")
    return false
  }
}
