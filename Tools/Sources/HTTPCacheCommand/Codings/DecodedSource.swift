import HTTPCacheArchives
import HTTPCaching
import Synchronization

/// A body, decoded from gzip.
final class DecodedSource: BodySource {
  private struct State: ~Copyable {
    var decoder: GzipDecoder
    var input = BodyBytes()
    var isSourceEnded = false
  }

  private let base: any BodySource
  private let state: Mutex<State>

  /// - Throws: `GzipDecoder.Failure` if memory runs out.
  init(_ base: any BodySource) throws {
    self.base = base
    state = Mutex(State(decoder: try GzipDecoder()))
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
        guard state.decoder.isEnded || !state.decoder.hasBegun else { throw GzipDecoder.Failure() }
        return BodyBytes()
      }
    } catch let failure as GzipDecoder.Failure {
      throw UpstreamError(
        .protocol, "the body is not the gzip that its Content-Encoding says", cause: failure)
    }
  }
}
