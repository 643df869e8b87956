public import HTTPCaching
import Synchronization

extension DownloadQueue {
  /// A change of a download that another process can ask for.
  public enum Change: String, Sendable, CaseIterable {
    /// As `pause(_:)`.
    case pause
    /// As `resume(_:)`.
    case resume
    /// As `cancel(_:)`.
    case cancel
    /// As `remove(_:)`.
    case remove
  }

  /// Asks the process that has a queue open to change downloads. Returns when the request is handed over; the
  /// queue then changes the downloads that it still has.
  ///
  /// - Parameters:
  ///   - change: the change.
  ///   - ids: the downloads.
  ///   - name: the name of the queue.
  ///   - cache: has the list in its directory.
  /// - Throws: `DownloadError.Code.notOpen` if no process has the queue open; `DownloadError.Code.invalidName`,
  ///   `DownloadError.Code.unavailable`.
  public static func ask(
    for change: Change, of ids: [DownloadID], queue name: String, in cache: HTTPCache
  ) throws(DownloadError) {
    guard let file = try Self.file(name, of: cache), RequestPipe.send(ids.map { (change, $0) }, to: file)
    else {
      throw DownloadError(.notOpen, "no process reads requests to the queue \(name)")
    }
  }

  /// Makes a change, as the method of its name does.
  public func apply(_ change: Change, to id: DownloadID) {
    switch change {
    case .pause: pause(id)
    case .resume: resume(id)
    case .cancel: cancel(id)
    case .remove: remove(id)
    }
  }

  /// Begins to read the requests of other processes.
  func listen() {
    guard let file = list?.file else { return }
    let pipe = RequestPipe(file) { [weak self] request in self?.apply(request.change, to: request.id) }
    shared.withLock { $0.requests = pipe }
  }
}
