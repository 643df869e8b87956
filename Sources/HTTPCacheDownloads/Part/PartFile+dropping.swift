import HTTPCaching
import Synchronization

/// Bytes that cannot be trusted.
extension PartFile {
  /// Drops bytes of a response that has contradicted itself.
  func drop(_ range: Range<Int64>) {
    state.withLock { state in
      let kept = PartState.without(range, state.kept)
      guard kept != state.kept else { return }
      state.kept = kept
      state.bytes.synced = PartState.without(range, state.bytes.synced)
      // The length of the file no longer says which bytes are there.
      state.bytes.isStream = false
      if save(&state) != 0 { state.record = nil }
    }
  }

  /// Drops the bytes that were added since `begin` or `resume`, because their response has contradicted itself. The
  /// bytes that were there before stay.
  public func dropAdded() { drop(state.withLock { $0.start }..<Int64.max) }

  /// Writes what was received to the disk, as `keep()` does, after the error that ended the transfer. Drops the bytes of
  /// the transfer if they cannot be trusted.
  public func keep(after error: any Error) async {
    if (error as? UpstreamError)?.cause is LengthContradiction { dropAdded() }
    await keep()
  }
}
