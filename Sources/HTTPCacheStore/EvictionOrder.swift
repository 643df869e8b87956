/// The order of eviction in memory: one doubly linked list for each bucket of an `EvictionPolicy`,
/// least recently used first. Every operation takes the same time whatever the number of entries.
///
/// A value type: copying it copies the lists. Positions stay valid until their entry is removed.
struct EvictionOrder<Element: Sendable>: Sendable {
  /// Where an entry is in the order.
  typealias Position = Int32

  private struct Node: Sendable {
    var element: Element?
    var priority: Double
    var size: Int64
    var list: Int32
    var previous: Position
    var next: Position
  }

  private struct List: Sendable {
    var first = EvictionOrder.none
    var last = EvictionOrder.none
  }

  private static var none: Position { -1 }
  // 15 uses of one byte are in bucket 7, one use of 2^63 bytes is in bucket -126.
  private static var lowestBucket: Int32 { -160 }
  private static var bucketCount: Int32 { 192 }

  private var nodes: [Node] = []
  private var freeNode = none
  private var lists: [List]
  // One bit for each list that is not empty; few are.
  private var occupied: [UInt64]
  private(set) var count = 0

  init() {
    lists = [List](repeating: List(), count: Int(Self.bucketCount))
    occupied = [UInt64](repeating: 0, count: Int(Self.bucketCount) / 64)
  }

  /// Puts an entry last in a bucket.
  mutating func insert(
    _ element: Element, size: Int64, bucket: Int32, priority: Double
  ) -> Position {
    let node = Node(
      element: element, priority: priority, size: size, list: Self.list(of: bucket),
      previous: Self.none, next: Self.none)
    let position: Position
    if freeNode == Self.none {
      position = Position(nodes.count)
      nodes.append(node)
    } else {
      position = freeNode
      freeNode = nodes[Int(position)].next
      nodes[Int(position)] = node
    }
    count += 1
    link(position)
    return position
  }

  /// Puts an entry last in a bucket that may be another one than before.
  mutating func move(_ position: Position, size: Int64, bucket: Int32, priority: Double) {
    unlink(position)
    nodes[Int(position)].size = size
    nodes[Int(position)].list = Self.list(of: bucket)
    nodes[Int(position)].priority = priority
    link(position)
  }

  /// Takes an entry out.
  mutating func remove(_ position: Position) {
    unlink(position)
    nodes[Int(position)].element = nil
    nodes[Int(position)].next = freeNode
    freeNode = position
    count -= 1
  }

  /// The priority of the entry to evict next; nil if there is none.
  var lowestPriority: Double? {
    var lowest: Double?
    for first in heads {
      let priority = priority(first)
      if lowest.map({ priority < $0 }) ?? true { lowest = priority }
    }
    return lowest
  }

  /// The first entries in the order of eviction, until they free `need` bytes or the next one has a
  /// priority above `bound`.
  func victims(need: Int64, bound: Double, sparing spared: Position?) -> [(Element, Double)] {
    var victims: [(Element, Double)] = []
    var freed: Int64 = 0
    var heads = heads
    while freed < need,
      let lowest = heads.indices.min(by: { priority(heads[$0]) < priority(heads[$1]) })
    {
      let position = heads[lowest]
      let node = nodes[Int(position)]
      guard node.priority <= bound else { break }
      if position != spared, let element = node.element {
        victims.append((element, node.priority))
        freed += node.size
      }
      if node.next == Self.none {
        heads.swapAt(lowest, heads.count - 1)
        heads.removeLast()
      } else {
        heads[lowest] = node.next
      }
    }
    return victims
  }

  /// The bytes of entries with a priority of at most `bound`; stops counting when there are `need`.
  func bytes(upTo bound: Double, need: Int64, sparing spared: Position?) -> Int64 {
    var bytes: Int64 = 0
    for first in heads {
      var position = first
      while position != Self.none, bytes < need {
        let node = nodes[Int(position)]
        guard node.priority <= bound else { break }
        if position != spared { bytes += node.size }
        position = node.next
      }
    }
    return bytes
  }

  // The least recently used entry of each bucket that has any.
  private var heads: [Position] {
    var heads: [Position] = []
    for index in occupied.indices {
      var rest = occupied[index]
      while rest != 0 {
        heads.append(lists[64 * index + rest.trailingZeroBitCount].first)
        rest &= rest - 1
      }
    }
    return heads
  }

  private func priority(_ position: Position) -> Double { nodes[Int(position)].priority }

  private static func list(of bucket: Int32) -> Int32 {
    max(0, min(bucketCount - 1, bucket - lowestBucket))
  }

  private mutating func link(_ position: Position) {
    let list = Int(nodes[Int(position)].list)
    let last = lists[list].last
    nodes[Int(position)].previous = last
    nodes[Int(position)].next = Self.none
    if last == Self.none {
      lists[list].first = position
      occupied[list >> 6] |= 1 << UInt64(list & 63)
    } else {
      nodes[Int(last)].next = position
    }
    lists[list].last = position
  }

  private mutating func unlink(_ position: Position) {
    // Not the node as a whole, whose element would be retained.
    let list = Int(nodes[Int(position)].list)
    let previous = nodes[Int(position)].previous
    let next = nodes[Int(position)].next
    if previous == Self.none {
      lists[list].first = next
    } else {
      nodes[Int(previous)].next = next
    }
    if next == Self.none {
      lists[list].last = previous
    } else {
      nodes[Int(next)].previous = previous
    }
    if lists[list].first == Self.none { occupied[list >> 6] &= ~(1 << UInt64(list & 63)) }
  }
}
