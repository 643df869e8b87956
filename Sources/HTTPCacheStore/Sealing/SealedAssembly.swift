import HTTPCacheSemantics
import Synchronization

/// Cuts what comes of a body into chunks.
///
/// A chunk that is full waits for a further byte, or for the end, as long as it may be the last one.
final class SealedAssembly: Sendable {
  struct Chunk: Sendable {
    let start: Int64
    let bytes: [UInt8]
    let isLast: Bool

    var place: Range<Int64> { start..<start + Int64(bytes.count) }
  }

  /// What some bytes made.
  struct Step: Sendable {
    /// Whole chunks, in order.
    var chunks: [Chunk] = []
    /// Bytes that will be in none.
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
  ///   - targets: where what comes lies in the body, in order.
  ///   - length: of the whole body, if it is known.
  ///   - layout: where chunks lie.
  init(targets: [Range<Int64>], length: Int64?, layout: SealedLayout) {
    self.length = length
    chunk = Int(layout.chunk)
    state = Mutex(State(targets: targets[...], position: targets.first?.lowerBound ?? 0))
  }

  /// - Throws: `CacheError.damaged` if more comes than was announced.
  func append(_ bytes: BodyBytes) throws(CacheError) -> Step {
    let step: Step? = state.withLock { state in
      var step = Step()
      var rest = bytes
      while !rest.isEmpty {
        guard let target = state.targets.first, state.position < target.upperBound else { return nil }
        let piece = rest.prefix(Int(min(Int64(rest.count), target.upperBound - state.position)))
        rest = rest.dropFirst(piece.count)
        fill(&state, piece, &step)
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

  /// Nothing more comes.
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

  private func fill(_ state: inout State, _ bytes: BodyBytes, _ step: inout Step) {
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

  // What is pending at the end of a range is a chunk, or never will be one.
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
