import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes

extension Torture {
  /// Damages thousands of directories and opens, reads, writes and repairs each.
  func corruptions() async throws -> Bool {
    let start = ContinuousClock.now
    let sources = try place("sources")
    try await makeSources(sources)
    let place = try place("damage")
    var counts: [String: Int] = [:]
    var bodies = (made: 0, found: 0)
    var bad: [String] = []
    var next = 0
    var made = 0
    while made < options.corruptions {
      let end = next + min(250, options.corruptions - made)
      let child = try ChildProcess(
        program,
        options.prefix + [DamageWorker.argument, sources, place, "\(options.seed)", "\(next)", "\(end)"])
      let text = child.readToEnd()
      let ended = child.wait()
      var last = next - 1
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 4)
        guard words.count > 1, let number = Int(words[1]) else { continue }
        last = number
        guard words[0] == "end", words.count > 3 else { continue }
        let (damage, outcome) = (String(words[2]), String(words[3]))
        counts[outcome, default: 0] += 1
        made += outcome == "nothing" ? 0 : 1
        let isRunning = number % 4 == 3
        if outcome != "nothing",
          isRunning || Damage(rawValue: damage)?.isOfOneBody == true || Forgery(rawValue: damage) != nil
        {
          bodies.made += 1
          if outcome != "undetected" { bodies.found += 1 }
        }
        if ["wrong", "undetected", "untold", "refused"].contains(outcome) { bad.append(String(line)) }
      }
      if ended != .exited(0) {
        bad.append("case \(last): the process ended: \(ended)")
        next = last + 1
      } else {
        next = end
      }
    }
    say(
      """
      corruptions: \(made) of \(next) directories damaged, \
      \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")); \
      of one body or by one flip while open: \(bodies.found) of \(bodies.made) found; \
      \(bad.count) wrong, refused or crashed [\(seconds(since: start)) s]
      """)
    for line in bad.prefix(20) { print(line) }
    return bad.isEmpty && bodies.found == bodies.made
  }

  // One directory after its store was closed, and one that is in use.
  private func makeSources(_ folder: String) async throws {
    let opened = try TortureStore(folder + "/store", isEncrypted: options.isEncrypted)
    let (store, part) = (opened.store, DamageWorker.part(isEncrypted: options.isEncrypted))
    for (number, key) in DamageWorker.keys.enumerated() {
      let lengths = [300, 20_000, 9_000, 40_000, 262_145, 16_385]
      let isPart = key % 6 == 3
      let version = SampleVersion(
        key: key, writer: 1, number: number,
        length: isPart ? part.length : lengths[number % lengths.count])
      let writer = try await store.write(version.record(isResumable: isPart), variantLimit: 8)
      if isPart {
        try await writer.append(version.body.prefix(part.count))
        _ = try await writer.keep()
      } else {
        try await writer.append(version.body)
        try await writer.commit(trailers: [:])
      }
      if key == DamageWorker.keys.count / 2 {
        await store.flush()
        try FileTree.copy(folder + "/store", to: folder + "/closed")
      }
    }
    try await store.invalidate(.key(SampleVersion.key(2)))
    try FileTree.copy(folder + "/store", to: folder + "/open")
  }
}
