import HTTPCaching
import Synchronization

/// A body without its content coding.
final class DecodedSource: BodySource {
  private struct State: ~Copyable {
    let decoder: any ContentDecoder
    var input = BodyBytes()
    var isSourceEnded = false
  }

  private let base: any BodySource
  private let coding: ContentCoding
  private let state: Mutex<State>

  /// - Throws: `ContentCodingFailure` if memory runs out.
  init(_ base: any BodySource, from coding: ContentCoding) throws {
    self.base = base
    self.coding = coding
    state = Mutex(State(decoder: try coding.makeDecoder()))
  }

  /// nil: the length of the decoded body is unknown.
  var length: Int64? { nil }

  var trailers: HTTPFields { base.trailers }

  func next() async throws -> BodyBytes? {
    while true {
      if let piece = try decode() { return piece.isEmpty ? nil : piece }
      let bytes = try await base.next()
      state.withLock { state in
        if let bytes { state.input = bytes } else { state.isSourceEnded = true }
      }
    }
  }

  func cancel() { base.cancel() }

  /// The next piece; empty at the end, nil if more input is needed.
  private func decode() throws -> BodyBytes? {
    do {
      return try state.withLock { state throws -> BodyBytes? in
        while !state.input.isEmpty || state.decoder.hasOutput {
          let piece = try state.decoder.decode(&state.input)
          if !piece.isEmpty { return piece }
          if state.input.isEmpty { break }
        }
        guard state.isSourceEnded else { return nil }
        // An empty body has no coding to remove.
        guard state.decoder.isEnded || !state.decoder.hasBegun else {
          throw ContentCodingFailure(coding: coding)
        }
        return BodyBytes()
      }
    } catch let failure as ContentCodingFailure {
      throw UpstreamError(.protocol, "\(failure)", cause: failure)
    }
  }
}
