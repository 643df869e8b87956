import HTTPCacheSemantics
import HTTPCacheTesting
import Testing

@testable import HTTPCaching

@Suite("Work in the background", .timeLimit(.minutes(5)))
struct BackgroundWorkTests {
  @Test("of one origin fewer tasks run than there are free places, so that others have some")
  func sharedPlaces() async {
    let clock = ManualClock(now: Timestamp(seconds: 0))
    let work = BackgroundWork(limit: 8)
    func begin(_ origin: String?) -> Bool {
      let before = work.count
      work.begin(asking: origin) { try? await clock.sleep(for: .seconds(1)) }
      return work.count > before
    }
    #expect(
      (1...8).map { _ in begin("https://a.test") } == [true, true, true, true]
        + Array(repeating: false, count: 4))
    #expect(
      [begin("https://b.test"), begin("https://b.test"), begin("https://b.test")] == [true, true, false])
    #expect([begin("https://c.test"), begin("https://c.test")] == [true, false])
    #expect([begin(nil), begin(nil)] == [true, false])
    work.cancel()
  }
}
