import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheLibC
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes

/// A process that damages copies of a directory, one after the other, and reports the result of each. So a crash is
/// noticed, and its number is known.
enum DamageWorker {
  static let argument = "damage-worker"
  static let keys = 0..<24

  /// Partial bodies: their length, the number of bytes that arrive, and the length of their files. No complete body
  /// has this length. Of encrypted bodies only whole chunks are kept.
  static func part(isEncrypted: Bool) -> (length: Int, count: Int, file: Int) {
    isEncrypted ? (200_000, 150_000, 131_072) : (40_000, 30_000, 30_000)
  }

  /// Maximum seconds for one case.
  static let patience: UInt32 = 60

  static func run(_ arguments: [String], isEncrypted: Bool) async throws -> Bool {
    guard arguments.count == 6, arguments[0] == argument, let seed = UInt64(arguments[3]),
      let first = Int(arguments[4]), let last = Int(arguments[5])
    else { return false }
    for number in first..<last {
      say("begin \(number)")
      alarm(patience)
      var one = DamageCase(number, seed, in: arguments[1], place: arguments[2], isEncrypted: isEncrypted)
      say("end \(number) \(try await one.run())")
    }
    return true
  }
}

/// One damaged directory.
struct DamageCase {
  let number: Int
  let sources: String
  let directory: String
  let isEncrypted: Bool
  var generator: SeededGenerator

  init(_ number: Int, _ seed: UInt64, in sources: String, place: String, isEncrypted: Bool) {
    self.isEncrypted = isEncrypted
    self.number = number
    self.sources = sources
    // A new path for each case: the previous store may not have ended yet.
    directory = place + "/\(number)"
    generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
  }

  /// The result: words that `Torture.corruptions` counts.
  mutating func run() async throws -> String {
    defer { FileTree.remove(directory) }
    let isOpen = number % 4 == 3
    let isForged = isEncrypted && number % 4 == 1
    // Half of the directories were copied while they were in use, so they have a log.
    try FileTree.copy(sources + (generator.below(2) == 0 ? "/closed" : "/open"), to: directory)
    let damage = Damage.allCases[number % Damage.allCases.count]
    let forgery = Forgery.allCases[number / 4 % Forgery.allCases.count]
    do {
      if isForged { return "\(forgery) " + (try await forged(forgery)) }
      return "\(damage) " + (isOpen ? try await whileOpen() : try await before(damage))
    } catch let violation as StoreViolation {
      return "\(damage) wrong \(violation)"
    } catch let error as CacheError {
      return "\(damage) wrong an error that nobody expects: \(error)"
    }
  }

  // The files of complete and partial bodies; every byte of them belongs to a row.
  private func bodies() -> [String] {
    FileTree.contents(of: directory + "/bodies").filter { !$0.isFolder }
      .map { "bodies/" + $0.path }
  }

  private mutating func before(_ damage: Damage) async throws -> String {
    guard
      try damage.apply(
        to: directory, bodies: bodies(), partLength: DamageWorker.part(isEncrypted: isEncrypted).file,
        &generator)
    else { return "nothing" }
    let opened: TortureStore
    do {
      opened = try TortureStore(directory, isEncrypted: isEncrypted)
    } catch let error as CacheError {
      return error.code == .newerFormat ? "newer" : "refused \(error.code)"
    }
    let (disk, store) = (opened.disk, opened.store)
    let wasReplaced = !disk.openingNotes.isEmpty
    var found = WorkloadAudit()
    do {
      found = try await WorkloadAudit.run(on: store, keys: DamageWorker.keys)
    } catch is CacheError {
      // A damaged index that is found in use is replaced.
      found.unreadable += 1
    }
    _ = try? await store.entries(.all, after: nil, limit: 1_000)
    if damage.isOfOneBody, found.unreadable == 0 { return "undetected" }
    try await goOn(opened)
    if wasReplaced || !disk.openingNotes.isEmpty { return "replaced" }
    return found.unreadable > 0 ? "found" : "harmless"
  }

  // After any damage, the store can store and read a new response.
  func goOn(_ opened: TortureStore) async throws {
    let store = opened.store
    let version = SampleVersion(key: DamageWorker.keys.upperBound, writer: 99, number: number, length: 40_000)
    var isStored = false
    var last: (any Error)?
    for _ in 0..<8 where !isStored {
      do {
        let writer = try await store.write(version.record(), variantLimit: 8)
        try await writer.append(version.body)
        try await writer.commit(trailers: [:])
        isStored =
          try store.read(version.record().key).first.map { SampleVersion($0.record) == version } ?? false
      } catch {
        last = error
        // Reservations without an owner are removed in the background.
        try? await Task.sleep(for: .milliseconds(25))
      }
    }
    guard isStored else {
      throw StoreViolation(
        message: "nothing can be stored any more: \(last.map { "\($0)" } ?? "it is not found")")
    }
    _ = try await opened.verify(repair: true)
    let findings = try await opened.verify(repair: false)
    guard findings.isEmpty else {
      throw StoreViolation(message: "not sound after repair: \(findings.joined(separator: "; "))")
    }
    _ = try await WorkloadAudit.run(on: store, keys: DamageWorker.keys)
  }

  // Reads an open body, changes its file, and reads the body again.
  private mutating func whileOpen() async throws -> String {
    let opened = try TortureStore(directory, isEncrypted: isEncrypted, verification: .everyRead)
    let store = opened.store
    for key in DamageWorker.keys.shuffled(using: &generator) {
      guard let variant = try store.read(SampleVersion.key(key)).first(where: { $0.record.isComplete }),
        let path = try await opened.entry(of: variant.record)?.bodyPath,
        let length = variant.record.bodyLength
      else { continue }
      var reader = try variant.body.open()
      _ = try await WorkloadAudit.check(variant, key: key)
      let place = Int64(generator.below(Int(length)))
      let file = open(path, O_RDWR)
      defer { close(file) }
      var byte: UInt8 = 0
      guard pread(file, &byte, 1, off_t(place)) == 1 else { return "nothing" }
      byte ^= 1 << UInt8(generator.below(8))
      guard pwrite(file, &byte, 1, off_t(place)) == 1 else { return "nothing" }
      // A chunk that was decrypted before the change stays right.
      if isEncrypted { reader = try variant.body.open() }
      let read = isEncrypted ? 0..<length : place..<place + 1
      do {
        let after = try await reader.read(read)
        return "undetected \(after.count)"
      } catch {
        guard error.code == .damaged else { throw StoreViolation(message: "\(error)") }
      }
      do { _ = try await WorkloadAudit.check(variant, key: key) } catch is CacheError { return "detected" }
      return "undetected"
    }
    return "nothing"
  }
}
