import HTTPCacheArchives
import HTTPCacheProxy
import HTTPCaching

/// The recording of `--record` or `--replay`.
struct RecordedUpstream: Upstream {
  let recording: ReplayUpstream

  var defaultTimeout: Duration? { recording.defaultTimeout }

  /// Answers a request.
  ///
  /// - Throws: `UpstreamError`, in a replay with the cause `NotRecorded` for a request without a recorded response, or
  ///   with one that lacks its body.
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    do {
      return try await recording.send(request)
    } catch {
      // A replay asks no origin: unreachable is what the recording does not have.
      guard recording.mode == .replay, error.kind == .unreachable else { throw error }
      throw UpstreamError(error.kind, error.message, cause: NotRecorded())
    }
  }
}
