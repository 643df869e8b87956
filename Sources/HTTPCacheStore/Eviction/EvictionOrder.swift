/// The order of eviction in memory: one doubly linked list for each bucket of an `EvictionPolicy`, least
/// recently used first. The time of each operation does not depend on the number of entries.
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
    // The priority of the first entry, so that finding the lowest priority reads no entry.
    var priority = Double.infinity
  }

  // The numbers of the bits that are set, in rising order.
  private struct SetBits: Sequence, IteratorProtocol {
    let words: [UInt64]
    var index = 0
    var rest: UInt64

    init(words: [UInt64]) {
      self.words = words
      rest = words.first ?? 0
    }

    mutating func next() -> Int? {
      while rest == 0 {
        index += 1
        guard index < words.count else { return nil }
        rest = words[index]
      }
      defer { rest &= rest - 1 }
      return 64 * index + rest.trailingZeroBitCount
    }
  }

  private static var none: Position { -1 }
  // 15 uses of one byte are in bucket 10, one use of 2^63 bytes is in bucket -126.
  private static var lowestBucket: Int32 { -160 }
  private static var bucketCount: Int32 { 192 }

  private var nodes: [Node] = []
  private var freeNode = none
  private var lists: [List]
  // One bit for each list that is not empty; few lists are not.
  private var occupied: [UInt64]
  private(set) var count = 0

  init() {
    lists = [List](repeating: List(), count: Int(Self.bucketCount))
    occupied = [UInt64](repeating: 0, count: Int(Self.bucketCount) / 64)
  }

  /// Appends an entry to a bucket.
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

  /// Moves an entry to the end of a bucket, which may be a different one.
  mutating func move(_ position: Position, size: Int64, bucket: Int32, priority: Double) {
    unlink(position)
    nodes[Int(position)].size = size
    nodes[Int(position)].list = Self.list(of: bucket)
    nodes[Int(position)].priority = priority
    link(position)
  }

  /// Removes an entry.
  mutating func remove(_ position: Position) {
    unlink(position)
    nodes[Int(position)].element = nil
    nodes[Int(position)].next = freeNode
    freeNode = position
    count -= 1
  }

  /// Whether the order uses far more memory than its entries need.
  var isSparse: Bool { nodes.capacity > 64 && nodes.capacity / 4 > count }

  /// A copy of the order that uses only the memory that it needs.
  ///
  /// - Parameter moved: called with the new position of each entry.
  func compacted(moved: (Element, Position) -> Void) -> EvictionOrder {
    var order = EvictionOrder()
    order.nodes.reserveCapacity(count)
    for index in occupiedLists {
      var position = lists[index].first
      while position != Self.none {
        let node = nodes[Int(position)]
        if let element = node.element {
          let bucket = Self.lowestBucket + Int32(index)
          moved(
            element, order.insert(element, size: node.size, bucket: bucket, priority: node.priority))
        }
        position = node.next
      }
    }
    return order
  }

  /// The entry to evict next, if its priority is at most `bound`.
  func next(
    upTo bound: Double, sparing spared: Position?
  ) -> (position: Position, element: Element, priority: Double)? {
    var lowest = bound.nextUp
    var found = Self.none
    for index in occupiedLists {
      let list = lists[index]
      guard list.priority < lowest else { continue }
      if list.first != spared {
        (found, lowest) = (list.first, list.priority)
        continue
      }
      let second = nodes[Int(list.first)].next
      guard second != Self.none, nodes[Int(second)].priority < lowest else { continue }
      (found, lowest) = (second, nodes[Int(second)].priority)
    }
    guard found != Self.none, let element = nodes[Int(found)].element else { return nil }
    return (found, element, lowest)
  }

  /// The bytes of entries with a priority of at most `bound`; stops counting at `need` bytes.
  func bytes(upTo bound: Double, need: Int64, sparing spared: Position?) -> Int64 {
    var bytes: Int64 = 0
    for index in occupiedLists where lists[index].priority <= bound {
      guard bytes < need else { break }
      var position = lists[index].first
      while position != Self.none, bytes < need {
        let node = nodes[Int(position)]
        guard node.priority <= bound else { break }
        if position != spared { bytes += node.size }
        position = node.next
      }
    }
    return bytes
  }

  private var occupiedLists: SetBits { SetBits(words: occupied) }

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
      lists[list].priority = nodes[Int(position)].priority
      occupied[list >> 6] |= 1 << UInt64(list & 63)
    } else {
      nodes[Int(last)].next = position
    }
    lists[list].last = position
  }

  private mutating func unlink(_ position: Position) {
    // Read the two links only: reading the whole node would retain its element.
    let (previous, next) = (nodes[Int(position)].previous, nodes[Int(position)].next)
    let list = Int(nodes[Int(position)].list)
    if next == Self.none {
      lists[list].last = previous
    } else {
      nodes[Int(next)].previous = previous
    }
    if previous != Self.none {
      nodes[Int(previous)].next = next
      return
    }
    lists[list].first = next
    if next == Self.none {
      lists[list].priority = .infinity
      occupied[list >> 6] &= ~(1 << UInt64(list & 63))
    } else {
      lists[list].priority = nodes[Int(next)].priority
    }
  }
}
