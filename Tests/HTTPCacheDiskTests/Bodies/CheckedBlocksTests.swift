import HTTPCacheLibC
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

@testable import HTTPCacheDisk
@testable import HTTPCacheFiles

/// Checked blocks of body files are remembered from one open to the next.
@Suite(.timeLimit(.minutes(10))) struct CheckedBlocksTests {
  private func state(
    size: Int = 1, inode: Int = 1, modified: (Int, Int) = (900, 1), changed: (Int, Int) = (900, 1)
  ) -> FileState {
    var status = stat()
    status.st_size = off_t(size)
    status.st_ino = ino_t(inode)
    let times = [modified, changed].map { timespec(tv_sec: $0.0, tv_nsec: $0.1) }
    #if canImport(Darwin)
      (status.st_mtimespec, status.st_ctimespec) = (times[0], times[1])
    #else
      (status.st_mtim, status.st_ctim) = (times[0], times[1])
    #endif
    return FileState(status)
  }

  private func moment(_ seconds: Int, _ nanoseconds: Int = 0) -> FileState.Moment {
    FileState.Moment(timespec(tv_sec: seconds, tv_nsec: nanoseconds))
  }

  @Test("exactly the inserted blocks count as checked")
  func blocks() {
    let checked = CheckedBlocks()
    #expect(checked.contains(0..<0))
    #expect(!checked.contains(0..<1))
    let spans = [3..<5, 60..<70, 128..<192, 255..<256]
    for span in spans { checked.insert(span) }
    let known = Set(spans.flatMap { Array($0) })
    for block in 0..<300 {
      #expect(checked.contains(block..<block + 1) == known.contains(block), "\(block)")
    }
    #expect(checked.contains(61..<69))
    #expect(!checked.contains(59..<61))
    #expect(!checked.contains(69..<71))
    #expect(checked.contains(128..<192))
    #expect(!checked.contains(127..<192))
    #expect(!checked.contains(128..<193))
    #expect(!checked.contains(4..<61))
  }

  @Test("a checked block at a large offset costs no memory for the blocks before it")
  func sparse() {
    let checked = CheckedBlocks()
    let block = 1 << 40
    checked.insert(block..<block + 1)
    #expect(checked.contains(block..<block + 1))
    #expect(!checked.contains(block - 1..<block + 1))
    #expect(!checked.contains(block..<block + 2))
    #expect(!checked.contains(0..<1))
  }

  @Test("a file that has just been changed could be changed again without a trace")
  func settled() {
    let file = state(changed: (1_000, 500_000_000))
    #expect(!file.isSettled(at: moment(1_000, 500_000_000)))
    #expect(!file.isSettled(at: moment(1_000, 599_000_000)))
    #expect(file.isSettled(at: moment(1_000, 601_000_000)))
    #expect(file.isSettled(at: moment(1_001, 0)))
    #expect(file.isSettled(at: moment(9_999, 0)))
    #expect(!file.isSettled(at: moment(1_000, 0)), "clocks may be set back")
    #expect(!file.isSettled(at: moment(500)))
    let coarse = state(modified: (1_000, 0), changed: (1_000, 0))
    #expect(!coarse.isSettled(at: moment(1_002, 999_999_999)))
    #expect(coarse.isSettled(at: moment(1_003, 1)))
    #expect(!state(changed: (.max, 1)).isSettled(at: moment(1_000)))
  }

  @Test("checked blocks count while the file is unchanged, and for an hour")
  func remembered() {
    let clock = ManualClock(now: Timestamp(seconds: 0))
    let bodies = CheckedBodies(clock: clock) { [moment = moment(1_000)] in moment }
    let name = BodyName(owner: 1, number: 1)
    bodies.blocks(of: name, state()).insert(0..<2)
    #expect(bodies.blocks(of: name, state()).contains(0..<2))
    #expect(!bodies.blocks(of: BodyName(owner: 1, number: 2), state()).contains(0..<1))
    let others = [
      state(size: 2), state(inode: 2), state(modified: (900, 2)), state(changed: (900, 2)),
      state(modified: (901, 1)), state(changed: (901, 1)),
    ]
    for other in others {
      #expect(!bodies.blocks(of: name, other).contains(0..<1))
      #expect(!bodies.blocks(of: name, state()).contains(0..<1), "it is not what it was in between")
      bodies.blocks(of: name, state()).insert(0..<2)
    }
    clock.advance(by: 3_599)
    #expect(bodies.blocks(of: name, state()).contains(0..<2))
    clock.advance(by: 1)
    #expect(!bodies.blocks(of: name, state()).contains(0..<1))
  }

  @Test("no checked blocks of a file that has just been changed are remembered")
  func unsettled() {
    let bodies = CheckedBodies(clock: ManualClock(now: Timestamp(seconds: 0))) { [moment = moment(1_000)] in
      moment
    }
    let name = BodyName(owner: 1, number: 1)
    let young = state(changed: (1_000, 0))
    bodies.blocks(of: name, young).insert(0..<2)
    #expect(!bodies.blocks(of: name, young).contains(0..<1))
    #expect(bodies.count == 0)
  }

  @Test("the number of remembered bodies is limited, and recently used ones stay")
  func bounded() {
    let bodies = CheckedBodies(clock: ManualClock(now: Timestamp(seconds: 0))) { [moment = moment(1_000)] in
      moment
    }
    let kept = BodyName(owner: 2, number: 0)
    bodies.blocks(of: kept, state()).insert(0..<1)
    for number in 0..<UInt64(10 * CheckedBodies.half) {
      bodies.blocks(of: BodyName(owner: 1, number: number), state()).insert(0..<1)
      if number % 1_000 == 0 { #expect(bodies.blocks(of: kept, state()).contains(0..<1)) }
    }
    #expect(bodies.count <= 2 * CheckedBodies.half)
    #expect(bodies.count >= CheckedBodies.half)
    #expect(!bodies.blocks(of: BodyName(owner: 1, number: 0), state()).contains(0..<1))
  }
}
