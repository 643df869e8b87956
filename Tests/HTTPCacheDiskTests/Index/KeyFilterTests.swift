import HTTPCacheStore
import Synchronization
import Testing

@testable import HTTPCacheDisk

@Suite("The keys of the index in memory", .timeLimit(.minutes(10)))
struct KeyFilterTests {
  private let changes = ChangeCounters()

  /// The filter of one class, after it has read these hashes.
  private func learned(_ hashes: [UInt64], classOf hash: UInt64 = 1) throws -> KeyFilter {
    let filter = KeyFilter(changes)
    try filter.learn(classOf: hash) { _, _ in hashes }
    return filter
  }

  @Test("a key without a row is known to be absent, until this store or another one inserts it")
  func absent() async throws {
    let fixture = try Fixture()
    let (store, other) = (fixture.store, try fixture.other())
    #expect(!store.isKnownAbsent(key("/a")), "nothing was read yet")
    #expect(try store.read(key("/a")).isEmpty)
    #expect(store.isKnownAbsent(key("/a")))
    try await store.put(try record("/a"), [1])
    #expect(!store.isKnownAbsent(key("/a")))
    #expect(try store.read(key("/a")).count == 1)

    #expect(try store.read(key("/b")).isEmpty)
    #expect(store.isKnownAbsent(key("/b")))
    try await other.put(try record("/b"), [1])
    #expect(!store.isKnownAbsent(key("/b")))
    #expect(try store.read(key("/b")).count == 1)

    _ = try await other.remove(.all)
    #expect(try store.read(key("/a")).isEmpty && store.read(key("/b")).isEmpty)
    #expect(store.isKnownAbsent(key("/a")) && store.isKnownAbsent(key("/b")))
  }

  @Test("a closed store says that it is closed, also for a key that is known to be absent")
  func closed() async throws {
    let fixture = try Fixture()
    #expect(try fixture.store.read(key("/a")).isEmpty)
    await fixture.store.close()
    #expect(throws: CacheError.self) { try fixture.store.read(key("/a")) }
  }

  @Test("all rows are found, however many: every key through a store that has read none of them")
  func many() async throws {
    let fixture = try Fixture()
    for number in 0..<300 { try await fixture.store.put(try record("/\(number)"), [1]) }
    let other = try fixture.other()
    for number in 0..<300 {
      #expect(try other.read(key("/\(number)")).count == 1)
      #expect(try fixture.store.read(key("/\(number)")).count == 1)
    }
    for number in 300..<600 { #expect(try other.read(key("/\(number)")).isEmpty) }
  }

  @Test("the classes are ranges without a gap, in the order of signed numbers")
  func classes() {
    let count = changes.keyClasses
    func number(_ hash: Int64) -> Int { changes.keyClass(of: UInt64(bitPattern: hash)) }
    #expect(changes.firstHash(ofKeyClass: 0) == .min)
    #expect(number(.max) == count - 1)
    for later in 1..<count {
      let first = changes.firstHash(ofKeyClass: later)
      #expect(number(first) == later && number(first - 1) == later - 1)
    }
  }

  @Test("one reading tells of all classes whose rows it has whole, and of no other")
  func severalClasses() throws {
    let filter = KeyFilter(changes)
    func hash(_ number: Int) -> UInt64 { UInt64(bitPattern: changes.firstHash(ofKeyClass: number)) }
    // Two rows in each class.
    try filter.learn(classOf: hash(10)) { first, most in
      #expect(UInt64(bitPattern: first) == hash(10))
      return (0..<most).map { hash(10 + $0 / 2) + UInt64($0 % 2) }
    }
    let last = 10 + KeyFilter.mostRows / 2 - 1
    for number in 10..<last {
      #expect(filter.mayContain(hash(number)) == true && filter.mayContain(hash(number) + 2) == false)
    }
    #expect(filter.mayContain(hash(last)) == nil && filter.mayContain(hash(9)) == nil)
    // At the end of the index, the classes behind the last row are empty.
    try filter.learn(classOf: hash(last)) { _, _ in [hash(last)] }
    #expect(filter.mayContain(hash(last + 1)) == false)
    #expect(filter.mayContain(hash(last + KeyFilter.mostClasses)) == nil)
  }

  @Test("a class is read again after a change by others, also one while it was read")
  func changed() throws {
    let filter = try learned([1])
    #expect(filter.mayContain(1) == true && filter.mayContain(2) == false)
    changes.raise(1)
    #expect(filter.mayContain(2) == nil)
    try filter.learn(classOf: 1) { _, _ in
      changes.raiseAll()
      return []
    }
    #expect(filter.mayContain(2) == nil)
  }

  @Test(
    "own changes are kept: what was inserted may be there, what was deleted is read again when there is much of it"
  )
  func own() throws {
    let filter = try learned([1])
    filter.raise(2, .inserted)
    filter.raise(1, .updated)
    #expect(filter.mayContain(2) == true && filter.mayContain(1) == true && filter.mayContain(3) == false)
    for _ in 1...16 { filter.raise(1, .deleted) }
    #expect(filter.mayContain(1) == true && filter.mayContain(3) == false)
    for _ in 17...18 { filter.raise(1, .deleted) }
    #expect(filter.mayContain(3) == nil)
    filter.raise(4, .inserted)
    #expect(filter.mayContain(4) == nil)
  }

  @Test("an own change after one of another process does not hide that one")
  func hidden() throws {
    let filter = try learned([])
    changes.raise(1)
    filter.raise(2, .inserted)
    #expect(filter.mayContain(1) == nil)
  }

  @Test("a class with too many rows is not known, and none is read any more")
  func overfull() throws {
    let filter = KeyFilter(changes)
    try filter.learn(classOf: 1) { _, most in [UInt64](repeating: 2, count: most) }
    #expect(filter.mayContain(1) == nil)
    try filter.learn(classOf: 1) { _, _ in
      Issue.record("read in vain")
      return []
    }
  }
}
