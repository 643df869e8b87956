import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

extension SharedTierConformance {
  private static let second = Duration.seconds(1)
  private static let ticket = SharedPosition(time: 9, number: 1)

  private static func lock(
    _ token: String, of key: CacheKey = key, ticket: SharedPosition = ticket,
    for duration: Duration = .seconds(30), overtaking: SharedPosition? = nil, in tier: any SharedTier
  ) async throws -> SharedLock {
    try await tier.lock(key, token: token, ticket: ticket, duration: duration, overtaking: overtaking)
  }

  static let lockChecks: [TierCheck] = [
    TierCheck("One fetch holds the lock of a key, and others learn its ticket") { sample in
      try requireEqual(try await lock("a", in: sample.first), .acquired, "the first lock")
      try requireEqual(try await lock("b", in: sample.second), .held(ticket: ticket), "the second lock")
      try await sample.second.unlock(key, token: "b", refusingFor: nil)
      try requireEqual(try await lock("b", in: sample.second), .held(ticket: ticket), "after a wrong token")
      try await sample.first.unlock(key, token: "a", refusingFor: nil)
      try requireEqual(try await lock("b", in: sample.second), .acquired, "after the end of the first")
    },
    TierCheck("A lock that was refused tells others not to wait") { sample in
      _ = try await lock("a", in: sample.first)
      try await sample.first.unlock(key, token: "a", refusingFor: .seconds(30))
      try requireEqual(try await lock("b", in: sample.second), .refused, "the lock")
      // A refusal that ends soon may end before it is asked for, on a busy machine.
      let other = StoreSample.key("/other")
      _ = try await lock("a", of: other, in: sample.first)
      try await sample.first.unlock(other, token: "a", refusingFor: second)
      try await sample.pass(.milliseconds(1_100))
      try requireEqual(try await lock("b", of: other, in: sample.second), .acquired, "after the refusal")
    },
    TierCheck("A lock expires unless it is renewed") { sample in
      var isRenewed: Bool
      var start: ContinuousClock.Instant
      repeat {
        // A busy machine may need longer than the lock lasts.
        start = .now
        _ = try await lock("a", for: second, in: sample.first)
        isRenewed = try await sample.first.renew(key, token: "a", duration: .seconds(30))
      } while !isRenewed && start.duration(to: .now) >= second
      try require(isRenewed, "it was not renewed")
      try require(
        try await !sample.second.renew(key, token: "b", duration: .seconds(30)), "a wrong token renews")
      try await sample.pass(.milliseconds(1_100))
      try requireEqual(try await lock("b", in: sample.second), .held(ticket: ticket), "a renewed lock")
      try require(try await sample.first.renew(key, token: "a", duration: second), "it was not renewed again")
      try await sample.pass(.milliseconds(1_100))
      try requireEqual(try await lock("b", in: sample.second), .acquired, "after its end")
      try require(
        try await !sample.first.renew(key, token: "a", duration: second), "an ended lock was renewed")
    },
    TierCheck("A lock of an overtaken fetch is taken over by one other fetch") { sample in
      let later = SharedPosition(time: 10, number: 0)
      _ = try await lock("a", in: sample.first)
      try requireEqual(
        try await lock("b", ticket: later, overtaking: SharedPosition(time: 8, number: 0), in: sample.second),
        .held(ticket: ticket), "a lock with another ticket")
      try requireEqual(
        try await lock("b", ticket: later, overtaking: ticket, in: sample.second), .acquired, "the lock")
      try requireEqual(
        try await lock("c", ticket: later, overtaking: ticket, in: sample.first), .held(ticket: later),
        "the lock of the fetch that took over")
      try require(try await !sample.first.renew(key, token: "a", duration: second), "the old token renews")
    },
    TierCheck("Publishing frees the lock with its token, and no other") { sample in
      _ = try await lock("a", in: sample.first)
      try await publish(variant(), token: "b", in: sample.second)
      try requireEqual(try await lock("c", in: sample.second), .held(ticket: ticket), "after another token")
      try await publish(variant(), token: "a", in: sample.first)
      try requireEqual(try await lock("c", in: sample.second), .acquired, "after its own token")
    },
    TierCheck("A publication that loses against a more recent response frees the lock, too") { sample in
      try await publish(variant { $0.date = 10 }, in: sample.first)
      _ = try await lock("a", in: sample.first)
      try require(
        try await !publish(variant { $0.date = 1 }, token: "a", in: sample.first), "it was published")
      try requireEqual(try await lock("b", in: sample.second), .acquired, "the lock")
    },
  ]

  static let logChecks: [TierCheck] = [
    TierCheck("Changes are read in the order of the log, by each node") { sample in
      let start = try await sample.second.state()
      _ = try await sample.first.state()
      var positions: [SharedPosition] = []
      for (number, selection) in selections.enumerated() {
        positions.append(
          try await sample.first.add(
            SharedChange(uid: "u\(number)", kind: kind(number), selection: selection), at: nil))
      }
      try require(zip(positions, positions.dropFirst()).allSatisfy { $0.0 < $0.1 }, "positions do not rise")
      let read = try await sample.second.changes(
        after: start.log.last?.position ?? .start, waitingFor: .zero, limit: 100)
      try requireEqual(read.entries.map(\.position), positions, "positions")
      try requireEqual(read.entries.map { $0.change?.selection }, selections.map { $0 }, "selections")
      try requireEqual(
        read.entries.map { $0.change?.kind }, selections.indices.map { kind($0) }, "kinds of changes")
      try requireEqual(read.entries.map { $0.change?.uid }, selections.indices.map { "u\($0)" }, "uids")
      try requireEqual(read.nonce, start.nonce, "nonce")
      let rest = try await sample.second.changes(after: positions[2], waitingFor: .zero, limit: 2)
      try requireEqual(rest.entries.map(\.position), Array(positions[3...4]), "the next two changes")
    },
    TierCheck("A node that waits learns of a change when it is added") { sample in
      _ = try await sample.first.state()
      _ = try await sample.second.state()
      async let read = sample.second.changes(after: .start, waitingFor: .seconds(10), limit: 10)
      let position = try await sample.first.add(
        SharedChange(uid: "u", kind: .invalidate, selection: .all), at: nil)
      try requireEqual(try await read.entries.map(\.position), [position], "positions")
    },
    TierCheck("Without a change, the wait ends with no entry") { sample in
      _ = try await sample.first.state()
      let read = try await sample.first.changes(after: .start, waitingFor: .zero, limit: 10)
      try requireEqual(read.entries.count, 0, "entries")
      try require(!read.nonce.isEmpty, "there is no nonce")
    },
    TierCheck("A change goes to the position that it is given, if that is above all others") { sample in
      _ = try await sample.first.state()
      let change = SharedChange(uid: "u", kind: .remove, selection: .all)
      let first = try await sample.first.add(change, at: nil)
      let above = SharedPosition(time: first.time + 60_000, number: 3)
      try requireEqual(try await sample.first.add(change, at: above), above, "a position above")
      let next = try await sample.second.add(change, at: first)
      try require(next > above, "a position that is too low is \(next), not above \(above)")
      try require(try await sample.first.add(change, at: nil) > next, "the next position is not above")
    },
  ]

  private static let selections: [CacheSelection] = [
    .all, .target("https://example.com/é?a=b c"), .prefix("https://example.com/x"),
    .group(origin: "https://example.com", name: "g 1"), .key(StoreSample.key("/k", partition: "p")),
    .site(origin: "https://example.com", mode: .shared, partition: ""), .partition(mode: .private, "a\u{0}b"),
    .storedSince(StoreSample.start), .key(key.with(contentDigest: [0, 255, 10])),
  ]

  private static func kind(_ number: Int) -> SharedChange.Kind {
    SharedChange.Kind.allCases[number % SharedChange.Kind.allCases.count]
  }

  static let stateChecks: [TierCheck] = [
    TierCheck("The state has the log, and for each class of scopes the last position") { sample in
      let target = CacheSelection.target("https://example.com/t")
      let empty = try await sample.first.state()
      try require(empty.log.isEmpty && !empty.isCut, "an empty tier has a log")
      // Without it, responses that the tier still has after a loss of the positions would pass for up to date.
      try requireEqual(Array(empty.scopes.keys), [0], "the classes of a tier that lost all positions")
      let removal = SharedChange(uid: "r", kind: .remove, selection: target)
      let invalidation = SharedChange(uid: "i", kind: .invalidate, selection: target)
      let first = try await sample.first.add(removal, at: nil)
      let removed = try await sample.second.state()
      for number in removal.scopeClasses {
        try requireEqual(removed.scopes[number], first, "the position of a removal")
      }
      let second = try await sample.first.add(invalidation, at: nil)
      let all = try await sample.second.add(
        SharedChange(uid: "w", kind: .wipe, selection: .partition(mode: .shared, "p")), at: nil)
      let state = try await sample.second.state()
      try requireEqual(state.log.map(\.position), [first, second, all], "positions")
      try requireEqual(state.nonce, empty.nonce, "nonce")
      for number in removal.scopeClasses {
        try requireEqual(state.scopes[number], second, "the position of a class")
      }
      for number in SharedScopes.classes(of: .partition(mode: .shared, "p")) {
        try requireEqual(state.scopes[number], all, "the position of a wipe")
      }
    },
    TierCheck("Nodes learn how far the others have applied the log") { sample in
      _ = try await sample.first.state()
      let position = SharedPosition(time: 3, number: 4)
      try await sample.first.report(SharedNode(name: "a", applied: .start, seen: 0))
      try await sample.second.report(SharedNode(name: "b", applied: position, seen: 0))
      let nodes = try await sample.first.nodes().sorted { $0.name < $1.name }
      try requireEqual(nodes.map(\.name), ["a", "b"], "names")
      try requireEqual(nodes.map(\.applied), [.start, position], "positions")
      try require(nodes.allSatisfy { $0.seen > 0 }, "the time is not that of the server")
    },
    TierCheck("A node that ends is forgotten at once") { sample in
      _ = try await sample.first.state()
      try await sample.first.report(SharedNode(name: "a", applied: .start, seen: 0))
      try await sample.second.report(SharedNode(name: "b", applied: .start, seen: 0))
      try await sample.first.leave(nodeName: "a")
      try await sample.first.leave(nodeName: "unknown")
      try requireEqual(try await sample.second.nodes().map(\.name), ["b"], "names")
    },
    TierCheck("A cancelled wait ends") { sample in
      _ = try await sample.first.state()
      let waiting = Task {
        try? await sample.first.changes(after: .start, waitingFor: .seconds(600), limit: 1)
      }
      waiting.cancel()
      _ = await waiting.value
    },
  ]
}
