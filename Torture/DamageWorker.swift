import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process that damages copies of a directory, one after the other, and tells what became of each: so
/// that a crash is seen, and known by its number.
enum DamageWorker {
  static let argument = "damage-worker"
  static let keys = 0..<24

  /// The bodies that are stored in part: their length, how much of them comes, and how long the file is that
  /// has it. No whole one is as long. Of what is encrypted whole chunks are kept.
  static func part(isEncrypted: Bool) -> (length: Int, count: Int, file: Int) {
    isEncrypted ? (200_000, 150_000, 131_072) : (40_000, 30_000, 30_000)
  }

  /// The most seconds that one case may take.
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
  var generator: SplitMix

  init(_ number: Int, _ seed: UInt64, in sources: String, place: String, isEncrypted: Bool) {
    self.isEncrypted = isEncrypted
    self.number = number
    self.sources = sources
    // Each has a place of its own: the store of the case before may be about to end.
    directory = place + "/\(number)"
    generator = SplitMix(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
  }

  /// What became of it: words that `Torture.corruptions` counts.
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

  // The files of whole bodies and of parts, of which every byte has a row.
  private func bodies() -> [String] {
    FileTree.contents(of: directory + "/bodies").filter { !$0.isFolder && !$0.path.hasSuffix(".part") }
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
      // An index found damaged in use is replaced.
      found.unreadable += 1
    }
    _ = try? await store.entries(.all, after: nil, limit: 1_000)
    if damage.isOfOneBody, found.unreadable == 0 { return "undetected" }
    try await goOn(opened)
    if wasReplaced || !disk.openingNotes.isEmpty { return "replaced" }
    return found.unreadable > 0 ? "found" : "harmless"
  }

  // Whatever was damaged, what is stored afterwards is there.
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
        // What claims room without an owner goes in the background.
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

  // A body that is open and was read is changed in its file, and read again.
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
      // A chunk that is open already stays right.
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
