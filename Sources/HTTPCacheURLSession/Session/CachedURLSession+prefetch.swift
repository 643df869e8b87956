import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CachedURLSession {
  /// The maximum number of requests that one prefetch runs at a time.
  private static let prefetchWidth = 4

  /// Loads responses into the cache, four at a time. Requests whose stored response is fresh are not sent; a failure
  /// ends only its own request, and the cache's observer is told. A later request joins a transfer that runs.
  ///
  /// - Parameters:
  ///   - requests: what will be asked for, most urgent first.
  ///   - priority: the priority of the transfers.
  /// - Returns: the task that loads; cancel it to stop, or wait for its value.
  @discardableResult
  public func prefetch(
    _ requests: [URLRequest], priority: TaskPriority = .low
  ) -> Task<Void, Never> {
    Task(priority: priority) {
      await withTaskGroup(of: Void.self) { group in
        for (index, request) in requests.enumerated() {
          if index >= Self.prefetchWidth { await group.next() }
          if Task.isCancelled { return }
          group.addTask { await self.store(request) }
        }
      }
    }
  }

  /// Loads a response, and reads it to its end unless it is stored already.
  private func store(_ request: URLRequest) async {
    do {
      let loaded = try await load(request, try RequestBody(request), LoadOptions(), nil)
      if loaded.isFromStore { return loaded.body.source.cancel() }
      while try await loaded.body.source.next() != nil {}
    } catch {
      // The observer was told of a failed transfer; the request that needs the response throws the error.
    }
  }
}
