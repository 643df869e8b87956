/// The share of one client: its connections, and the exchanges on them. An exchange is a request that is not
/// answered at once from memory, until its answer has left; a tunnel is one too.
final class ClientShare: Sendable {
  let client: ClientAddress
  let exchanges: BoundedCount

  /// - Parameter limit: maximum number of exchanges.
  init(of client: ClientAddress, limit: Int) {
    self.client = client
    exchanges = BoundedCount(limit: limit)
  }
}
