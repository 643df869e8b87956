import HTTPCacheSemantics
import HTTPCaching
import Testing

@testable import HTTPCacheImages

@Suite("Decoded images in memory", .timeLimit(.minutes(10)))
struct MemoryImagesTests {
  private let mark: StoreMark
  private let later = Timestamp(seconds: 100)
  private let now = Timestamp(seconds: 50)

  init() throws { mark = StoreMark(try HTTPCache.open(HTTPCache.Configuration())) }

  private func entry(_ side: Int) throws -> MemoryImage {
    MemoryImage(
      image: try Picture.plain(side, 1, SIMD4(1, 1, 1, 255)), digest: 0, record: nil, freshUntil: later,
      mark: mark)
  }

  @Test("the sum of the bytes stays within the capacity; images that were not used go")
  func limit() throws {
    var memory = MemoryImages(capacity: 40)
    for name in ["a", "b", "c", "d", "e"] { memory.insert(try entry(2), ImageName(name)) }
    #expect(memory.cost == 40 && memory.count == 5)
    #expect(memory.hit(ImageName("a"), now: now, mark: mark) != nil)
    memory.insert(try entry(4), ImageName("f"))
    #expect(memory.cost == 40)
    #expect(
      ["a", "b", "c", "d", "e", "f"].map { memory.hit(ImageName($0), now: now, mark: mark) != nil }
        == [true, false, false, true, true, true])
    memory.trim(to: 8)
    #expect(memory.cost <= 8 && memory.count == 1 || memory.count == 0)
    memory.setCapacity(0)
    #expect(memory.cost == 0 && memory.count == 0)
  }

  @Test("an image above the capacity is not kept, and does not send others out")
  func tooLarge() throws {
    var memory = MemoryImages(capacity: 40)
    memory.insert(try entry(2), ImageName("a"))
    memory.insert(try entry(11), ImageName("b"))
    #expect(memory.count == 1 && memory.hit(ImageName("a"), now: now, mark: mark) != nil)
  }

  @Test("an image is used while its response is fresh and the store has not changed")
  func use() throws {
    var memory = MemoryImages(capacity: 40)
    memory.insert(try entry(2), ImageName("a"))
    #expect(memory.hit(ImageName("a"), now: later, mark: mark) == nil)
    #expect(
      memory.hit(ImageName("a"), now: now, mark: StoreMark(try HTTPCache.open(HTTPCache.Configuration())))
        == nil)
    #expect(memory.hit(ImageName("a"), now: now, mark: mark) != nil)
  }

  @Test("the same order and sum as a list, over many random steps")
  func model() throws {
    var memory = MemoryImages(capacity: 100)
    var list: [(name: String, cost: Int, isUsed: Bool)] = []
    func trim(to bytes: Int) {
      while list.reduce(0, { $0 + $1.cost }) > bytes {
        let first = list.removeFirst()
        if first.isUsed { list.append((first.name, first.cost, false)) }
      }
    }
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      let name = "\(Int.random(in: 0..<20, using: &generator))"
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        memory.remove(ImageName(name))
        list.removeAll { $0.name == name }
      case 1:
        let isThere = memory.hit(ImageName(name), now: now, mark: mark) != nil
        #expect(isThere == list.contains { $0.name == name })
        if let index = list.firstIndex(where: { $0.name == name }) { list[index].isUsed = true }
      default:
        let side = Int.random(in: 1..<8, using: &generator)
        memory.insert(try entry(side), ImageName(name))
        list.removeAll { $0.name == name }
        trim(to: 100 - side * 4)
        list.append((name, side * 4, false))
      }
      #expect(memory.cost == list.reduce(0) { $0 + $1.cost } && memory.count == list.count)
    }
  }
}
