import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCaching

/// The report of a transfer that failed.
extension FileTransfer {
  /// The report of a failure, with the bytes that are kept.
  func failure(_ error: any Error, _ progress: TransferProgress) async -> TransferReport.Failure {
    var failure = TransferFailureText(error: error, progress: progress).failure
    failure.isBeyondRecall = output.isStream && output.hasBegun
    // A part file of such a body would fail again.
    if error is WrongDigest || (error as? UpstreamError)?.cause is ContentCodingFailure {
      if !progress.isForwarded {
        failure.detail = "this is the stored response; --policy reload asks the origin"
      }
      return failure
    }
    if (error as? UpstreamError)?.cause is LengthContradiction {
      // The bytes from before this transfer stay.
      output.part?.dropAdded()
      if output.leftover != nil { await output.keep() }
      // Running again fails again.
      if fetcher.policy != .reload { failure.detail = "--policy reload begins anew" }
      return failure
    }
    let told =
      if let target = progress.target, progress.isForwarded {
        await fetcher.recorder.result(for: target, within: .seconds(10), clock: clock)
      } else { nil as StorageRecorder.Result? }
    failure.detail = await kept(told, progress)?.text(after: progress, isEarlyEnd: failure.isEarlyEnd)
    return failure
  }

  private func kept(_ told: StorageRecorder.Result?, _ progress: TransferProgress) async -> KeptBytes? {
    let leftover = output.leftover
    switch told {
    case .stored: return .complete
    case .kept(let bytes)
    where bytes + PartContinuation.slack >= leftover?.bytes ?? 0
      && (leftover == nil || !isRedirected(progress)):
      // The next request may be redirected to a URL under which the cache has nothing.
      if leftover != nil { await output.keep() }
      return .cached(bytes)
    case .kept, .notStored, nil: break
    }
    if let leftover {
      await output.keep()
      return .part(leftover.bytes, leftover.path)
    }
    guard progress.isForwarded, progress.received > 0 else { return nil }
    // Without the coding, a part file would be kept in every case.
    let isCoded = fetcher.handling.decodes && progress.fields[.contentEncoding] != nil && !output.isStream
    if case .notStored(let refusal) = told, refusal != .incomplete, !isCoded {
      return .nothing(OutcomeText.text(refusal, bypass: fetcher.bypass))
    }
    return .nothing(reasonForNothing(progress))
  }

  /// Whether the URL that answered is not that of the request. A redirect may name another URL next time, under which the
  /// cache has nothing; a part file continues all the same.
  private func isRedirected(_ progress: TransferProgress) -> Bool {
    let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    return progress.target != TargetURI.normalized(url)
  }

  private func reasonForNothing(_ progress: TransferProgress) -> String {
    if fetcher.includesHead { return "with -i a response is not continued" }
    if let coding = progress.fields[.contentEncoding] {
      return "a response in a content coding (\(coding)) is not continued"
        + (fetcher.handling.decodes ? "; --no-compressed asks for it without" : "")
    }
    if content != nil || !PartRecord.isPossible(for: request) {
      return "only a GET of the whole, without content, is continued"
    }
    return
      "a response without a strong ETag or Last-Modified, or of an origin without ranges, cannot be continued"
  }
}
