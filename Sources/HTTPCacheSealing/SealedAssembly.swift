import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Cuts the arriving bytes of a body into chunks.
///
/// A full chunk that may be the last one waits for a further byte, or for the end.
final class SealedAssembly: Sendable {
  struct Chunk: Sendable {
    let start: Int64
    let bytes: [UInt8]
    let isLast: Bool

    var place: Range<Int64> { start..<start + Int64(bytes.count) }
  }

  /// The result of adding bytes.
  struct Step: Sendable {
    /// Whole chunks, in order.
    var chunks: [Chunk] = []
    /// Bytes that will not be in any chunk.
    var fragments: [(start: Int64, bytes: BodyBytes)] = []
    /// The bytes of the chunk that is being filled.
    var pending: [UInt8] = []
    var pendingStart: Int64 = 0
  }

  private struct State: Sendable {
    var targets: ArraySlice<Range<Int64>>
    var position: Int64
    var pending: [UInt8] = []
  }

  private let chunk: Int
  private let length: Int64?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - targets: the positions of the arriving bytes in the body, in order.
  ///   - length: the length of the whole body, if known.
  ///   - layout: the positions of chunks.
  init(targets: [Range<Int64>], length: Int64?, layout: SealedLayout) {
    self.length = length
    chunk = Int(layout.chunk)
    state = Mutex(State(targets: targets[...], position: targets.first?.lowerBound ?? 0))
  }

  /// - Throws: `CacheError.damaged` if more bytes arrive than announced.
  func append(_ bytes: BodyBytes) throws(CacheError) -> Step {
    let step: Step? = state.withLock { state in
      var step = Step()
      var rest = bytes
      while !rest.isEmpty {
        guard let target = state.targets.first, state.position < target.upperBound else { return nil }
        let piece = rest.prefix(Int(min(Int64(rest.count), target.upperBound - state.position)))
        rest = rest.dropFirst(piece.count)
        fill(&state, with: piece, to: &step)
        guard state.position == target.upperBound else { continue }
        finish(&state, &step)
        state.targets.removeFirst()
        if let next = state.targets.first { state.position = next.lowerBound }
      }
      return settled(state, step)
    }
    guard let step else { throw CacheError(.damaged, "more bytes came than were announced") }
    return step
  }

  /// No more bytes arrive.
  ///
  /// - Parameter isEnd: whether the body ends here.
  func finish(isEnd: Bool) -> Step {
    state.withLock { state in
      var step = Step()
      let isEmpty = state.position == 0
      if isEnd, !state.pending.isEmpty || isEmpty {
        step.chunks.append(chunk(of: &state, isLast: true))
      } else {
        finish(&state, &step)
      }
      return settled(state, step)
    }
  }

  private func settled(_ state: State, _ step: Step) -> Step {
    var step = step
    step.pending = state.pending
    step.pendingStart = state.position - Int64(state.pending.count)
    return step
  }

  private func fill(_ state: inout State, with bytes: BodyBytes, to step: inout Step) {
    var rest = bytes
    let beyond = Int(state.position % Int64(chunk))
    if state.pending.isEmpty, beyond > 0 {
      let lost = rest.prefix(chunk - beyond)
      step.fragments.append((state.position, lost.withUnsafeBytes { BodyBytes($0) }))
      state.position += Int64(lost.count)
      rest = rest.dropFirst(lost.count)
    }
    while !rest.isEmpty {
      if state.pending.count == chunk {
        step.chunks.append(chunk(of: &state, isLast: false))
      }
      let piece = rest.prefix(chunk - state.pending.count)
      if state.pending.isEmpty, piece.count == chunk || rest.count == piece.count {
        state.pending.reserveCapacity(min(chunk, max(piece.count, 1_024)))
      }
      piece.withUnsafeBytes { state.pending.append(contentsOf: $0) }
      state.position += Int64(piece.count)
      rest = rest.dropFirst(piece.count)
    }
  }

  // At the end of a range, the pending bytes are either a chunk or will never be one.
  private func finish(_ state: inout State, _ step: inout Step) {
    guard !state.pending.isEmpty else { return }
    if state.position == length {
      step.chunks.append(chunk(of: &state, isLast: true))
    } else if length != nil, state.pending.count == chunk {
      step.chunks.append(chunk(of: &state, isLast: false))
    } else {
      let start = state.position - Int64(state.pending.count)
      step.fragments.append((start, BodyBytes(state.pending)))
      state.pending = []
    }
  }

  private func chunk(of state: inout State, isLast: Bool) -> Chunk {
    defer { state.pending = [] }
    return Chunk(
      start: state.position - Int64(state.pending.count), bytes: state.pending, isLast: isLast)
  }
}
