import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("Progress of downloads", .timeLimit(.minutes(10)))
struct DownloadProgressTests {
  @Test("bytes, fraction, rate and time left of one and of all")
  func numbers() async throws {
    let test = try TestQueue(count: 400)
    let gates = [Gate(), Gate()]
    test.origin.change { state in
      let content = state.content
      state.answers = [
        ScriptedResponse(
          head: HTTPResponse(status: .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60"]),
          steps: [
            .wait(gates[0]), .bytes(BodyBytes(content[..<100])), .wait(gates[1]),
            .bytes(BodyBytes(content[100...])),
          ], announcedLength: 400)
      ]
    }
    let id = try test.add()
    await gates[0].waitForArrivals(1)
    // The body waits at the gate in the task of its transfer. The attempt may see its head later.
    let begun = await test.wait(id) { $0 == .receiving }
    #expect(begun?.expected == 400)
    test.clock.advance(by: 2)
    gates[0].open()
    await gates[1].waitForArrivals(1)
    let status = try #require(test.queue.status(of: id))
    #expect(status.received == 100)
    #expect(status.fraction == 0.25)
    #expect(status.rate == 50)
    #expect(status.timeLeft == .seconds(6))
    let summary = test.queue.summary
    #expect(summary.running == 1 && summary.received == 100 && summary.expected == 400)
    #expect(summary.rate == 50 && summary.timeLeft == .seconds(6))
    gates[1].open()
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.queue.status(of: id)?.fraction == 1)
    #expect(test.queue.summary.rate == 0 && test.queue.summary.fraction == 1)
  }

  @Test("the rate is smoothed, and the first sample counts fully")
  func smoothing() {
    var meter = RateMeter(at: .zero)
    meter.add(1_000, at: .seconds(1))
    #expect(meter.bytesPerSecond == 1_000)
    meter.add(4_000, at: .seconds(2))
    #expect(meter.bytesPerSecond > 1_000 && meter.bytesPerSecond < 2_000)
    for second in 3..<60 { meter.add(4_000, at: .seconds(second)) }
    #expect(abs(meter.bytesPerSecond - 4_000) < 10)
    let before = meter.bytesPerSecond
    meter.add(9_999, at: .seconds(59) + .milliseconds(1))
    #expect(meter.bytesPerSecond == before)
  }

  @Test("a slow reader gets the latest state, not all of them")
  func slowReader() async throws {
    let test = try TestQueue(count: 10)
    let id = try test.add()
    let updates = test.queue.updates(of: id)
    let summaries = test.queue.summaries()
    _ = try await test.end(id)
    var first = updates.makeAsyncIterator()
    #expect(await first.next()?.state == .done(.fetched))
    var all = summaries.makeAsyncIterator()
    #expect(await all.next()?.done == 1)
  }

  @Test("streams end when the download is removed or the queue closed")
  func ending() async throws {
    let test = try TestQueue(count: 10)
    let id = try test.add()
    _ = try await test.end(id)
    var updates = test.queue.updates(of: id).makeAsyncIterator()
    var summaries = test.queue.summaries().makeAsyncIterator()
    _ = await updates.next()
    test.queue.remove(id)
    #expect(await updates.next() == nil)
    _ = await summaries.next()
    await test.queue.close()
    while await summaries.next() != nil {}
    var late = test.queue.summaries().makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test("lengths that an origin makes up do not overflow the sums")
  func hugeLengths() {
    var summary = DownloadSummary()
    var item = DownloadItem(
      id: DownloadID(rawValue: 1),
      download: Download(request: HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/")),
      position: 1)
    item.expected = .max
    item.received = .max
    summary.count(item, sign: 1)
    summary.count(item, sign: 1)
    #expect(summary.expected == .max)
    #expect(item.status.fraction == 1)
  }
}
