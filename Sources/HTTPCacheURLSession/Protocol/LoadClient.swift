import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The client of a protocol, told where Foundation expects it.
final class LoadClient: @unchecked Sendable {
  // @unchecked Sendable because the protocol and its client are used within `perform` alone.

  /// What the client can be told.
  struct Calls {
    fileprivate let loader: URLProtocol

    func receive(_ response: URLResponse) {
      loader.client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func load(_ data: Data) { loader.client?.urlProtocol(loader, didLoad: data) }

    func finish() { loader.client?.urlProtocolDidFinishLoading(loader) }

    func fail(_ error: URLError) { loader.client?.urlProtocol(loader, didFailWithError: error) }
  }

  // Weak, since the protocol owns its load; Foundation keeps it as long as it wants to be told.
  private weak let loader: URLProtocol?
  private let calls: ClientCalls

  /// Made where the protocol is started.
  init(_ loader: URLProtocol, _ surroundings: TaskSurroundings) {
    self.loader = loader
    calls = ClientCalls(surroundings)
  }

  /// Does something with the client; with nil if nobody is there any more. Foundation stops the process
  /// where it is told of a task that it has ended itself.
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
