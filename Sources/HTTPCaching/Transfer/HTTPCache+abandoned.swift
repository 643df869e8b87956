import HTTPCacheSemantics
package import HTTPTypes
import Synchronization

extension HTTPCache {
  /// Waits for the transfers of a request's target that no caller reads any more, and that do not go on without
  /// one: what arrived is then kept for the next request.
  package func abandonedTransfersEnded(_ request: HTTPRequest) async {
    guard let target = CacheKey.target(of: request) else { return }
    for transfer in running.transfers(of: target) where transfer.isAbandoned { await transfer.ended() }
  }
}

extension Transfer {
  var isAbandoned: Bool { shared.withLock { $0.state.isAbandoned } }
}
