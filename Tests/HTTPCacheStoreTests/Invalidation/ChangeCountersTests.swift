import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ChangeCountersTests {
  private let counters = ChangeCounters()
  private let key = StoreSample.key("/a")

  @Test("targets that are changed wipe no partition, however many: clients choose them")
  func invalidationsAreNoWipes() {
    let ticket = counters.ticket()
    for number in 0..<20_000 { counters.note(.target("https://example.com/?q=\(number)")) }
    counters.note(.all)
    counters.note(.partition(mode: key.mode, key.partition))
    #expect(counters.isOvertaken(key, groups: [], since: ticket))
    #expect(!counters.isWiped(key, since: ticket))
  }

  @Test("a wipe counts for what was requested before, also if the response has made changes itself since")
  func ownChanges() {
    let ticket = counters.ticket()
    counters.noteWipe(mode: key.mode, partition: key.partition)
    #expect(counters.isWiped(key, since: ticket))
    #expect(!counters.isWiped(key, since: counters.ticket()))
    let later = counters.ticket().forRequest(of: ticket)
    #expect(counters.isWiped(key, since: later))
    #expect(!counters.isOvertaken(key, groups: [], since: later))
  }

  @Test("nothing is known of a ticket of other counters")
  func others() {
    let other = ChangeCounters()
    #expect(counters.isWiped(key, since: other.ticket()))
    counters.noteWipe(mode: key.mode, partition: key.partition)
    #expect(counters.isWiped(key, since: counters.ticket().forRequest(of: other.ticket())))
  }
}
