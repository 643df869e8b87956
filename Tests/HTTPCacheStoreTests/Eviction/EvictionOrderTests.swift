import Testing

@testable import HTTPCacheStore

@Suite("EvictionOrder", .timeLimit(.minutes(10)))
struct EvictionOrderTests {
  private func all(_ order: EvictionOrder<String>) -> [String] {
    victims(order, upTo: .infinity)
  }

  // The evicted entries, in order.
  private func victims(
    _ order: EvictionOrder<String>, upTo bound: Double,
    sparing spared: EvictionOrder<String>.Position? = nil
  ) -> [String] {
    var rest = order
    var gone: [String] = []
    while let (position, element, _) = rest.next(upTo: bound, sparing: spared) {
      gone.append(element)
      rest.remove(position)
    }
    return gone
  }

  @Test("gives the least recently used of a bucket, and the lowest priority of all buckets")
  func order() {
    var order = EvictionOrder<String>()
    _ = order.insert("a", size: 1, bucket: 0, priority: 1)
    let b = order.insert("b", size: 1, bucket: -20, priority: 0.5)
    _ = order.insert("c", size: 1, bucket: 0, priority: 2)
    _ = order.insert("d", size: 1, bucket: -20, priority: 1.5)
    #expect(all(order) == ["b", "a", "d", "c"])
    order.move(b, size: 1, bucket: 0, priority: 3)
    #expect(all(order) == ["a", "d", "c", "b"])
    #expect(order.next(upTo: .infinity, sparing: nil)?.priority == 1)
  }

  @Test("uses the places of removed entries again and keeps its links")
  func removal() {
    var order = EvictionOrder<String>()
    let positions = (0..<5).map { order.insert("\($0)", size: 1, bucket: 0, priority: Double($0)) }
    order.remove(positions[0])
    order.remove(positions[2])
    order.remove(positions[4])
    #expect(all(order) == ["1", "3"])
    let new = order.insert("new", size: 1, bucket: 0, priority: 9)
    #expect(positions.contains(new))
    #expect(all(order) == ["1", "3", "new"])
    #expect(order.count == 3)
    for position in [positions[1], positions[3], new] { order.remove(position) }
    #expect(all(order) == [])
    #expect(order.next(upTo: .infinity, sparing: nil)?.priority == nil)
  }

  @Test("in less memory it is the same order, at places that it tells")
  func compacted() {
    var order = EvictionOrder<String>()
    var positions: [EvictionOrder<String>.Position] = []
    for number in 0..<500 {
      let (bucket, priority) = (Int32(number % 40) - 20, Double(number % 7))
      positions.append(
        order.insert("\(number)", size: Int64(number), bucket: bucket, priority: priority))
    }
    #expect(!order.isSparse)
    for number in 0..<500 where number % 50 != 3 { order.remove(positions[number]) }
    #expect(order.isSparse)
    let before = all(order)
    var moved: [String: EvictionOrder<String>.Position] = [:]
    var small = order.compacted { moved[$0] = $1 }
    #expect(!small.isSparse)
    #expect(all(small) == before && before.count == 10)
    #expect(
      small.bytes(upTo: .infinity, need: .max, sparing: nil)
        == order.bytes(upTo: .infinity, need: .max, sparing: nil))
    for (index, element) in before.enumerated() where index % 2 == 0 {
      if let position = moved[element] { small.remove(position) }
      if let number = Int(element) { order.remove(positions[number]) }
    }
    #expect(all(small) == all(order) && small.count == 5)
  }

  @Test("gives nothing above the bound, and not the spared one")
  func victims() {
    var order = EvictionOrder<String>()
    let a = order.insert("a", size: 10, bucket: 0, priority: 1)
    _ = order.insert("b", size: 10, bucket: 0, priority: 2)
    _ = order.insert("c", size: 10, bucket: 2, priority: 3)
    #expect(victims(order, upTo: 2) == ["a", "b"])
    #expect(victims(order, upTo: 9, sparing: a) == ["b", "c"])
    #expect(victims(order, upTo: 0.5) == [])
    #expect(order.bytes(upTo: 2, need: .max, sparing: nil) == 20)
    #expect(order.bytes(upTo: 2, need: .max, sparing: a) == 10)
    #expect(order.bytes(upTo: 9, need: 5, sparing: nil) >= 5)
  }

  @Test("knows the lowest priority when the first of a bucket goes or moves")
  func lowest() {
    var order = EvictionOrder<String>()
    let a = order.insert("a", size: 1, bucket: 3, priority: 1)
    let b = order.insert("b", size: 1, bucket: 3, priority: 2)
    _ = order.insert("c", size: 1, bucket: 3, priority: 4)
    order.move(a, size: 1, bucket: 3, priority: 5)
    #expect(order.next(upTo: .infinity, sparing: nil)?.priority == 2)
    order.remove(b)
    #expect(order.next(upTo: .infinity, sparing: nil)?.priority == 4)
  }
}
