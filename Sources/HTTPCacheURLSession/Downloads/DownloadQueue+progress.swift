public import HTTPCacheDownloads

extension DownloadQueue {
  /// A progress of a download in bytes, with rate and time left. Cancelling, pausing and resuming it does so with
  /// the download. It follows the download until it is released, or the queue is closed. `isPaused` and `isCancelled`
  /// tell of calls of the progress alone, not of `DownloadQueue.pause(_:)` and `cancel(_:)`: see `updates(of:)`.
  ///
  /// - Parameter id: the download. The progress of an identifier that the queue does not have stays indeterminate.
  public func progress(of id: DownloadID) -> Progress {
    let progress = Progress(totalUnitCount: -1)
    progress.kind = .file
    progress.setUserInfoObject(Progress.FileOperationKind.downloading, forKey: .fileOperationKindKey)
    progress.isCancellable = true
    progress.isPausable = true
    progress.cancellationHandler = { [weak self] in self?.cancel(id) }
    progress.pausingHandler = { [weak self] in self?.pause(id) }
    progress.resumingHandler = { [weak self] in self?.resume(id) }
    let updates = updates(of: id)
    Task { [weak progress] in
      for await status in updates {
        guard let progress else { return }
        progress.show(status)
        if case .done = status.state { return }
      }
    }
    return progress
  }
}

extension Progress {
  fileprivate func show(_ status: DownloadStatus) {
    totalUnitCount = status.expected ?? -1
    completedUnitCount = status.received
    setUserInfoObject(Int(exactly: status.rate.rounded()) ?? .max, forKey: .throughputKey)
    let left = status.timeLeft.map { TimeInterval($0.components.seconds) }
    setUserInfoObject(left, forKey: .estimatedTimeRemainingKey)
    if let path = status.download.destination {
      setUserInfoObject(URL(fileURLWithPath: path), forKey: .fileURLKey)
    }
  }
}
