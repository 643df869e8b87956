import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheCommand

@Suite("serve says that its store fails", .timeLimit(.minutes(10)))
struct StoreFailureObserverTests {
  @Test("once a minute for each operation, and nothing else")
  func onceAMinute() {
    let clock = ManualClock(now: Timestamp(seconds: 0))
    let lines = Mutex<[String]>([])
    let observer = StoreFailureObserver(clock: clock) { line in lines.withLock { $0.append(line) } }
    let full = CacheError(.noSpace, "no room")
    observer.observe(.notStored(target: "https://a.b/", .storeFailed))
    for _ in 0..<100 { observer.observe(.storeFailed(operation: "store", full)) }
    #expect(lines.withLock { $0.count } == 1)
    observer.observe(.storeFailed(operation: "read", full))
    #expect(lines.withLock { $0.count } == 2)
    clock.advance(by: .seconds(60))
    observer.observe(.storeFailed(operation: "store", full))
    #expect(lines.withLock { $0.count } == 3)
    #expect(lines.withLock { $0.last?.contains("no room") } == true)
  }
}
