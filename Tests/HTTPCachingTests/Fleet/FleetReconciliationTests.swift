import HTTPCacheTesting
import Testing

@testable import HTTPCaching

@Suite("A fleet: meeting the log again", .timeLimit(.minutes(10)))
struct FleetReconciliationTests {
  private func position(_ number: UInt64) -> SharedPosition { SharedPosition(time: 1, number: number) }

  private func change(_ uid: String) -> SharedChange {
    SharedChange(uid: uid, kind: .remove, selection: .all)
  }

  private func entry(_ uid: String, _ number: UInt64) -> SharedLogEntry {
    SharedLogEntry(position: position(number), change: change(uid))
  }

  private func state(_ log: [SharedLogEntry], isCut: Bool = false) -> SharedState {
    SharedState(nonce: "n", log: log, isCut: isCut, scopes: [:])
  }

  private func remembering(_ entries: [SharedLogEntry]) -> RememberedChanges {
    var remembered = RememberedChanges()
    for entry in entries {
      if let change = entry.change { remembered.note(change, at: entry.position, uptime: .zero) }
    }
    return remembered
  }

  private func plan(
    _ log: [SharedLogEntry], after last: SharedLogEntry?, _ seen: [SharedLogEntry], isCut: Bool = false
  ) -> FleetReconciliation {
    FleetReconciliation(
      with: state(log, isCut: isCut), after: last.map { ReadPosition($0) } ?? .start,
      remembered: remembering(seen),
      wasAbsent: false)
  }

  @Test("The same log: it goes on where it was")
  func same() {
    let log = [entry("a", 1), entry("b", 2), entry("c", 3)]
    let plan = plan(log, after: log[1], Array(log[..<2]))
    #expect(plan.position == position(2))
    #expect(plan.unread == [log[2]])
    #expect(plan.additions.isEmpty)
    #expect(plan.gap == nil)
  }

  @Test("Its own change at the end of the log does not move its position")
  func own() {
    let log = [entry("a", 1), entry("b", 2), entry("own", 3)]
    let plan = plan(log, after: log[0], [log[0], log[2]])
    #expect(plan.position == position(1))
    #expect(plan.unread == Array(log[1...]))
  }

  @Test(
    "Lost entries are added again above everything that was seen, with their uids, and the position goes back"
  )
  func lost() {
    let seen = [entry("a", 1), entry("b", 2), entry("c", 3)]
    let plan = plan([seen[0], entry("x", 2)], after: seen[2], seen)
    #expect(plan.position == position(1))
    #expect(plan.additions.map(\.change.uid) == ["b", "c", "x"])
    #expect(plan.additions.map(\.position) == [position(4), position(5), position(6)])
    // Another entry has the position of a lost one.
    #expect(plan.unread.map(\.position) == [position(2)])
  }

  @Test("An empty log: all is added again")
  func empty() {
    let seen = [entry("a", 1), entry("b", 2)]
    let plan = plan([], after: seen[1], seen)
    #expect(plan.position == .start)
    #expect(plan.additions.count == 2)
    #expect(plan.gap == nil)
  }

  @Test("An entry that was forgotten is known by its position and uid")
  func forgotten() {
    let log = [entry("a", 1), entry("b", 2)]
    #expect(plan(log, after: log[1], []).unread.isEmpty)
    #expect(plan([log[0], entry("other", 2)], after: log[1], []).unread.count == 2)
  }

  @Test("A log that was cut after the position leaves a gap")
  func cut() {
    let plan = plan([entry("y", 8), entry("z", 9)], after: entry("a", 1), [entry("a", 1)], isCut: true)
    #expect(plan.gap == .logCut)
    #expect(plan.position == position(9))
  }

  @Test("A lost change does not bring entries again that were read and forgotten")
  func readAndForgotten() {
    let log = (1...9).map { entry("\($0)", UInt64($0)) }
    // It remembers the last three; the server has lost the last.
    let plan = plan(Array(log[..<8]), after: log[8], Array(log[6...]))
    #expect(plan.additions.map(\.change.uid) == ["9"])
    #expect(plan.additions.map(\.position) == [position(10)])
    #expect(plan.unread.isEmpty)
  }

  @Test("Changes before the first entry of a log that was cut are not added again")
  func cutBehind() {
    let log = (1...9).map { entry("\($0)", UInt64($0)) }
    let plan = plan(Array(log[4..<8]), after: log[8], log, isCut: true)
    #expect(plan.gap == nil)
    #expect(plan.additions.map(\.change.uid) == ["9"])
  }

  /// Remembers entries, and has forgotten others that are older.
  private func forgetting(_ old: [SharedLogEntry], _ new: [SharedLogEntry]) -> RememberedChanges {
    var remembered = remembering(old)
    for entry in new {
      if let change = entry.change {
        remembered.note(change, at: entry.position, uptime: .seconds(601))
      }
    }
    return remembered
  }

  @Test("Lost changes that were forgotten are added again as an invalidation of everything")
  func lostAndForgotten() {
    let log = (1...9).map { entry("\($0)", UInt64($0)) }
    let plan = FleetReconciliation(
      with: state(Array(log[..<4])), after: ReadPosition(log[8]),
      remembered: forgetting(Array(log[..<6]), Array(log[6...])), wasAbsent: false)
    #expect(plan.additions.map(\.change.uid).starts(with: ["7", "8", "9"]))
    #expect(plan.additions.last?.change.kind == .invalidate)
    #expect(plan.additions.last?.change.selection == .all)
    #expect(plan.additions.allSatisfy { $0.position.map { $0 > position(9) } ?? false })
  }

  @Test("Forgotten changes that the log has, or that overtake everything there, are not added again")
  func forgottenAndKept() {
    let log = (1...9).map { entry("\($0)", UInt64($0)) }
    let remembered = forgetting(Array(log[..<6]), Array(log[6...]))
    let same = FleetReconciliation(
      with: state(log), after: .start, remembered: remembered, wasAbsent: false)
    #expect(same.additions.isEmpty)
    let empty = SharedState(
      nonce: "n", log: [], isCut: false, scopes: [0: position(10)])
    let plan = FleetReconciliation(
      with: empty, after: ReadPosition(log[8]), remembered: remembered, wasAbsent: false)
    #expect(plan.additions.map(\.change.uid) == ["7", "8", "9"])
  }

  @Test(
    "A node that was restarted adds an invalidation of everything if the server lost the entry that it had read",
    arguments: [true, false])
  func lostBeforeRestart(hasEntries: Bool) {
    let log = (1...9).map { entry("\($0)", UInt64($0)) }
    let saved = SavedPosition(nonce: "n", read: ReadPosition(log[8]))
    func plan(_ state: SharedState) -> FleetReconciliation {
      FleetReconciliation(with: state, after: saved, hasEntries: hasEntries)
    }
    for isCut in [false, true] {
      let lost = plan(state(Array(log[4..<7]), isCut: isCut))
      #expect(lost.additions.map(\.change.kind) == [.invalidate])
      #expect(lost.additions.map(\.change.selection) == [.all])
      #expect(lost.additions.map(\.position) == [position(10)])
    }
    #expect(plan(state(log)).additions.isEmpty)
    // Another node has added it again.
    #expect(plan(state(Array(log[..<4]) + [entry("9", 12)])).additions.isEmpty)
    // The log begins behind it: it was cut.
    #expect(plan(state([entry("20", 20)], isCut: true)).additions.isEmpty)
    let other = SharedState(nonce: "other", log: [], isCut: false, scopes: [:])
    #expect(plan(other).additions.isEmpty)
  }

  @Test("An entry that was taken for read without being known is missed when the server loses it")
  func takenForRead() {
    let log = (1...9).map { entry("\($0)", UInt64($0)) }
    var remembered = RememberedChanges()
    remembered.note(unknown: ReadPosition(log[6]))
    for number in 8...9 { remembered.note(change("\(number)"), at: position(UInt64(number)), uptime: .zero) }
    remembered.note(unknown: ReadPosition(log[8]))
    let plan = FleetReconciliation(
      with: state(Array(log[..<4])), after: ReadPosition(log[8]), remembered: remembered, wasAbsent: false)
    #expect(plan.additions.map(\.change.uid).starts(with: ["8", "9"]))
    #expect(plan.additions.last?.change.kind == .invalidate)
    let kept = FleetReconciliation(
      with: state(Array(log[..<8])), after: ReadPosition(log[8]), remembered: remembered, wasAbsent: false)
    #expect(kept.additions.map(\.change.uid) == ["9"])
  }

  @Test("Lost changes are added above the position that was read, though its entry could not be read")
  func aboveUnreadable() {
    let seen = [entry("a", 1), entry("b", 2)]
    let unreadable = SharedLogEntry(position: position(5), change: nil)
    #expect(plan([], after: unreadable, seen).additions.map(\.position) == [position(6), position(7)])
  }

  @Test("4,096 changes are remembered, for 10 minutes")
  func bounds() {
    var remembered = RememberedChanges()
    for number in 0..<10_000 {
      remembered.note(change("\(number)"), at: position(UInt64(number)), uptime: .zero)
    }
    #expect(remembered.all.count == 4_096)
    #expect(remembered.all.first?.change.uid == "5904")
    remembered.note(change("new"), at: position(20_000), uptime: .seconds(601))
    #expect(remembered.all.map(\.change.uid) == ["new"])
    remembered.note(change("new"), at: position(20_001), uptime: .seconds(602))
    #expect(remembered.highest == position(20_001))
  }

  @Test("The breaker opens after three deadlines in a row, and lets one attempt through in each pause")
  func breaker() {
    let breaker = TierBreaker()
    breaker.failed(.timeout, uptime: .zero)
    breaker.failed(.timeout, uptime: .zero)
    breaker.succeeded(.ordinary, uptime: .milliseconds(1_001))
    breaker.failed(.timeout, uptime: .seconds(2))
    breaker.failed(.unavailable, uptime: .seconds(2))
    breaker.failed(.timeout, uptime: .seconds(2))
    #expect(breaker.passage(uptime: .seconds(2)) == .ordinary)
    breaker.failed(.timeout, uptime: .seconds(2))
    #expect(breaker.passage(uptime: .milliseconds(2_249)) == nil)
    #expect(breaker.passage(uptime: .milliseconds(2_250)) == .trial)
    #expect(breaker.passage(uptime: .milliseconds(2_250)) == nil)
    breaker.failed(.timeout, .trial, uptime: .milliseconds(2_300))
    #expect(breaker.passage(uptime: .milliseconds(2_799)) == nil)
    var next = Duration.milliseconds(2_800)
    // The pause does not grow beyond 2 s.
    for pause in [1, 2, 2, 2] {
      #expect(breaker.passage(uptime: next) == .trial)
      breaker.failed(.unreachable, .trial, uptime: next)
      next += .seconds(pause)
      #expect(breaker.passage(uptime: next - .milliseconds(1)) == nil)
    }
    #expect(breaker.passage(uptime: next) == .trial)
    breaker.succeeded(.trial, uptime: next)
    #expect(breaker.passage(uptime: next) == .ordinary)
  }

  @Test("Failures of questions that began before the breaker opened do not lengthen its first pause")
  func breakerFailuresAtOnce() {
    let breaker = TierBreaker()
    for _ in 0..<10 { breaker.failed(.unreachable, uptime: .zero) }
    for _ in 0..<10 { breaker.failed(.timeout, uptime: .milliseconds(50)) }
    #expect(breaker.passage(uptime: .milliseconds(249)) == nil)
    #expect(breaker.passage(uptime: .milliseconds(250)) == .trial)
  }

  @Test("One server of a cluster that hangs opens the breaker, though the others answer meanwhile")
  func breakerOfCluster() {
    let breaker = TierBreaker()
    for time in [0, 400, 800] as [Int64] {
      #expect(breaker.passage(uptime: .milliseconds(time)) == .ordinary)
      breaker.failed(.timeout, uptime: .milliseconds(time))
      breaker.succeeded(.ordinary, uptime: .milliseconds(time + 1))
    }
    // An answer to a question that began before does not close it.
    #expect(breaker.passage(uptime: .milliseconds(801)) == nil)
    #expect(breaker.passage(uptime: .milliseconds(1_050)) == .trial)
    breaker.succeeded(.trial, uptime: .milliseconds(1_051))
    #expect(!breaker.isOpen(uptime: .milliseconds(1_051)))
    // The server still hangs: one deadline is enough.
    breaker.failed(.timeout, uptime: .milliseconds(1_200))
    #expect(breaker.isOpen(uptime: .milliseconds(1_200)))
    #expect(!breaker.isOpen(uptime: .milliseconds(1_450)), "its pause is over")
    #expect(breaker.passage(uptime: .milliseconds(1_450)) == .trial)
    breaker.succeeded(.trial, uptime: .milliseconds(2_201))
    breaker.failed(.timeout, uptime: .milliseconds(2_300))
    #expect(!breaker.isOpen(uptime: .milliseconds(2_300)))
  }

  @Test("Scopes: a change overtakes what it may select, by ticket")
  func scopes() {
    let key = CacheKey(mode: .shared, partition: "p", target: "https://example.com/a?b")
    let changes: [CacheSelection] = [
      .all, .key(key), .target(key.target), .prefix("https://example.com/a"), .prefix("https://"),
      .partition(mode: .shared, "p"), .site(origin: "https://example.com", mode: .shared, partition: "p"),
      .group(origin: "https://example.com", name: "g"), .storedSince(Timestamp(seconds: 0)),
    ]
    for selection in changes {
      for kind in SharedChange.Kind.allCases {
        var scopes = SharedScopes()
        scopes.note(SharedChange(uid: "u", kind: kind, selection: selection), at: position(5))
        #expect(scopes.isOvertaken(key, groups: ["g"], requestTarget: nil, since: position(4)))
        #expect(!scopes.isOvertaken(key, groups: ["g"], requestTarget: nil, since: position(5)))
      }
    }
    var scopes = SharedScopes()
    scopes.note(
      SharedChange(uid: "u", kind: .remove, selection: .target("https://example.com/other")), at: position(5))
    #expect(!scopes.isOvertaken(key, groups: [], requestTarget: nil, since: .start))
    #expect(scopes.isOvertaken(key, groups: [], requestTarget: "https://example.com/other", since: .start))
    scopes.note(nil, at: position(6))
    #expect(scopes.isOvertaken(key, groups: [], requestTarget: nil, since: position(5)))
  }
}
