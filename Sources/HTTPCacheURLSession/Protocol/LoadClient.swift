/// The client of a protocol, called where Foundation expects it.
final class LoadClient: @unchecked Sendable {
  // @unchecked Sendable because the protocol and its client are only used within `perform`.

  /// The calls to the client.
  struct Calls {
    fileprivate let loader: URLProtocol

    func receive(_ response: URLResponse) {
      loader.client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func load(_ data: Data) { loader.client?.urlProtocol(loader, didLoad: data) }

    func finish() { loader.client?.urlProtocolDidFinishLoading(loader) }

    func fail(_ error: URLError) { loader.client?.urlProtocol(loader, didFailWithError: error) }
  }

  // Weak, because the protocol owns its load. Foundation keeps the protocol as long as it expects calls.
  private weak let loader: URLProtocol?
  private let calls: ClientCalls

  /// Must be called where the protocol is started.
  init(_ loader: URLProtocol, _ surroundings: TaskSurroundings) {
    self.loader = loader
    calls = ClientCalls(surroundings)
  }

  /// Calls `work` with the client, or with nil if Foundation has released the protocol. Foundation crashes
  /// when it is called for a task that it has ended itself.
  func perform(_ work: @escaping @Sendable (Calls?) -> Void) {
    calls.perform { [self] in
      guard let loader else { return work(nil) }
      switch loader.task?.state {
      case .canceling, .completed: work(nil)
      default: work(Calls(loader: loader))
      }
    }
  }
}
