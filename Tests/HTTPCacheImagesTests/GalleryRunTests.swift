import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheImages

@Suite("A gallery", .timeLimit(.minutes(10)))
struct GalleryRunTests {
  private final class Tally: Sendable {
    let wrong = Mutex<[String]>([])
    let cancelled = Counter()
    let shown = Counter()
  }

  @Test(
    "2,000 calls over 200 URLs with random cancels, while 50 pictures change: each caller gets its picture or its own cancellation"
  )
  func run() async throws {
    let counter = Counter()
    let gallery = try Gallery(
      answer: { request in
        if request["if-none-match"] == nil { counter.increment() }
        return nil
      }, configure: { $0.memoryCapacity = 40_000 })
    for index in 0..<200 { gallery.versions["/\(index)"] = UInt8(index) }
    let tally = Tally()
    try await half(gallery, tally, seed: 1)
    for index in 0..<50 { gallery.versions["/\(index)"] = UInt8(200 + index) }
    gallery.clock.advance(by: .seconds(61))
    try await half(gallery, tally, seed: 2)

    #expect(tally.wrong.withLock { $0 }.isEmpty)
    let (shown, cancelled) = (tally.shown.value, tally.cancelled.value)
    #expect(shown + cancelled == 2_000)
    #expect(shown >= 1_400)
    #expect(gallery.images.memoryUsage <= 40_000)
    // 200 pictures, 50 of them in a second version: only downloads that were cancelled are begun again.
    let whole = 250
    let conditional = gallery.upstream.requestCount - counter.value
    #expect(conditional >= 150)
    #expect(Set(gallery.decoder.decoded).count == whole)
    #expect(counter.value + 50 >= whole)
    #expect(counter.value <= 200 + gallery.upstream.cancelledBodies)
    #expect(gallery.images.jobs.count == 0)
  }

  /// A thousand callers at once; each fifth one leaves at some moment.
  private func half(_ gallery: Gallery, _ tally: Tally, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let order = (0..<1_000).map { $0 % 200 }.shuffled(using: &random)
    // The first caller of each picture stays, so that each version is shown.
    var seen: Set<Int> = []
    let cancels = order.map { !seen.insert($0).inserted && Int.random(in: 0..<5, using: &random) == 0 }
    await withTaskGroup(of: Void.self) { group in
      for (call, index) in order.enumerated() {
        let expected = gallery.versions["/\(index)"]
        group.addTask {
          let task = Task { try await gallery.images.image(for: gallery.request("/\(index)")) }
          if cancels[call] {
            await Task.yield()
            task.cancel()
          }
          do {
            let image = try await task.value
            if image.gray != expected { tally.wrong.withLock { $0.append("/\(index): \(image.gray ?? 0)") } }
            tally.shown.increment()
          } catch is CancellationError where cancels[call] {
            tally.cancelled.increment()
          } catch {
            tally.wrong.withLock { $0.append("/\(index): \(error)") }
          }
          if gallery.images.memoryUsage > 40_000 { tally.wrong.withLock { $0.append("memory") } }
        }
      }
    }
  }
}
