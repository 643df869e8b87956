import HTTPCacheStore
import HTTPTypes
import Testing

@testable import HTTPCaching

@Suite("Transfer: who reads what while a body arrives", .timeLimit(.minutes(10)))
struct TransferStateTests {
  private func bytes(_ count: Int, _ value: UInt8 = 7) -> BodyBytes {
    BodyBytes([UInt8](repeating: value, count: count))
  }

  private func reader(of state: inout TransferState) throws -> Int {
    let reader = state.addReader()
    return try #require(reader)
  }

  @Test("a reader that keeps up gets the bytes as they came, then waits, then ends")
  func keepsUp() throws {
    var state = TransferState(TransferExtent(length: 10))
    let reader = try reader(of: &state)
    guard case .wait = state.read(reader) else { return #expect(Bool(false), "nothing has come") }
    state.append(bytes(10))
    guard case .take(let taken) = state.read(reader) else { return #expect(Bool(false), "bytes") }
    #expect(taken.count == 10)
    guard case .wait = state.read(reader) else { return #expect(Bool(false), "not ended") }
    state.end(.finished([:]))
    guard case .end = state.read(reader) else { return #expect(Bool(false), "ended") }
  }

  @Test("the fetch runs at most the window ahead of its fastest reader")
  func window() throws {
    var state = TransferState(TransferExtent(length: nil))
    let fast = try reader(of: &state)
    _ = try reader(of: &state)
    for _ in 0..<16 { state.append(bytes(64 << 10)) }
    #expect(state.isAhead)
    guard case .take = state.read(fast) else { return #expect(Bool(false), "bytes") }
    #expect(!state.isAhead, "the slow reader does not hold the fetch back")
  }

  @Test("a slow reader is sent to the store for what is no longer kept")
  func slowReader() throws {
    var state = TransferState(TransferExtent(length: nil))
    let fast = try reader(of: &state)
    let slow = try reader(of: &state)
    for _ in 0..<40 {
      state.append(bytes(64 << 10))
      guard case .take = state.read(fast) else { return #expect(Bool(false), "bytes") }
    }
    guard case .readStored(let range) = state.read(slow) else {
      return #expect(Bool(false), "its bytes are in the store only")
    }
    #expect(range == 0..<(256 << 10))
    state.advance(slow, by: range.count)
    guard case .readStored(let next) = state.read(slow) else { return #expect(Bool(false), "more") }
    #expect(next.lowerBound == 256 << 10)
  }

  @Test(
    "after the store failed, the fetch waits for a slow reader that needs what nobody else has, until it is dropped"
  )
  func storeFailed() throws {
    var state = TransferState(TransferExtent(length: nil))
    let fast = try reader(of: &state)
    let slow = try reader(of: &state)
    state.storeFailed()
    for value in 0..<128 {
      #expect(!state.isAhead)
      state.append(bytes(64 << 10, UInt8(value)))
      guard case .take = state.read(fast) else { return #expect(Bool(false), "bytes") }
    }
    #expect(state.isAhead && state.isHeldBack)
    for value in 0..<8 {
      guard case .take(let taken) = state.read(slow) else { return #expect(Bool(false), "kept") }
      #expect(taken.array.first == UInt8(value))
      #expect(!state.isAhead)
    }
    let late = state.addReader()
    #expect(late == nil, "the start is gone")
    for _ in 0..<8 {
      state.append(bytes(64 << 10))
      guard case .take = state.read(fast) else { return #expect(Bool(false), "bytes") }
    }
    #expect(state.isHeldBack)
    state.dropSlowReaders()
    #expect(!state.isAhead)
    guard case .fail = state.read(slow) else { return #expect(Bool(false), "bounded") }
  }

  @Test(
    "a reader that has yet to come to where the store failed reads what is stored, and the fetch waits there")
  func behindTheStore() throws {
    var state = TransferState(TransferExtent(length: nil))
    let fast = try reader(of: &state)
    let slow = try reader(of: &state)
    func fetch(_ pieces: Int) {
      for _ in 0..<pieces {
        state.append(bytes(64 << 10))
        guard case .take = state.read(fast) else { return #expect(Bool(false), "bytes") }
      }
    }
    fetch(320)
    state.storeFailed()
    let stored = state.received
    fetch(128)
    #expect(state.isHeldBack)
    var position: Int64 = 0
    while position < stored {
      guard case .readStored(let range) = state.read(slow) else { return #expect(Bool(false), "stored") }
      #expect(range.lowerBound == position && range.upperBound <= stored)
      #expect(state.isHeldBack)
      state.advance(slow, by: range.count)
      position = range.upperBound
    }
    guard case .take = state.read(slow) else { return #expect(Bool(false), "kept") }
    #expect(!state.isHeldBack)
  }

  @Test("no request joins a transfer that was abandoned")
  func abandoned() throws {
    var state = TransferState(TransferExtent(length: nil))
    let only = try reader(of: &state)
    state.removeReader(only)
    state.abandon()
    let late = state.addReader()
    #expect(late == nil)
  }

  @Test("a transfer without readers is worth finishing if 10 % or 64 KiB are left")
  func worthFinishing() {
    var large = TransferState(TransferExtent(length: 10 << 20))
    large.append(bytes(1 << 20))
    #expect(!large.isWorthFinishing)
    for _ in 0..<8 { large.append(bytes(1 << 20)) }
    #expect(large.isWorthFinishing)
    var small = TransferState(TransferExtent(length: 70 << 10))
    #expect(!small.isWorthFinishing)
    small.append(bytes(6 << 10))
    #expect(small.isWorthFinishing)
    #expect(!TransferState(TransferExtent(length: nil)).isWorthFinishing)
  }

  @Test("a reader of a failed transfer gets what came, then the failure")
  func failure() throws {
    var state = TransferState(TransferExtent(length: 20))
    let reader = try reader(of: &state)
    state.append(bytes(5))
    state.end(.failed(UpstreamError(.protocol, "cut")))
    guard case .take = state.read(reader) else { return #expect(Bool(false), "bytes") }
    guard case .fail(let error) = state.read(reader) else { return #expect(Bool(false), "fails") }
    #expect((error as? UpstreamError)?.kind == .protocol)
    let late = state.addReader()
    #expect(late == nil)
  }
}
