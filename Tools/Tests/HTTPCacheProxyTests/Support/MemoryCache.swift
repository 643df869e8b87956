import HTTPCacheTesting
import HTTPCaching
import ServerTesting

/// A cache that stores nothing, so that every request reaches the origin.
func storelessCache() -> HTTPCache {
  let store = FaultyStore(MemoryStore(capacity: 0))
  store.fail(.write, times: .max, with: CacheError(.unavailable, "nothing is kept"))
  return HTTPCache(configuration: HTTPCache.Configuration(memoryCapacity: 0), store: store)
}

/// A shared cache in memory.
func memoryCache() throws -> HTTPCache {
  try HTTPCache.open(
    HTTPCache.Configuration(
      memoryCapacity: 8 << 20, rules: CacheRules(mode: .shared), cacheStatusName: "httpcache"))
}

extension RunningProxy {
  /// Sends a GET that reaches the origin, which answers with `answer`, to be stored.
  ///
  /// - Returns: the head that the origin got.
  @discardableResult
  func miss(
    _ target: String, fields: String = "", host: String = "h", answer: String = "x"
  ) async throws -> String {
    let client = try connect()
    client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n")
    let (peer, head) = try await origin.acceptRequest()
    let length = answer.utf8.count
    peer.send(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n"
    )
    peer.send(answer)
    _ = try await client.receiveAll()
    return head
  }

  /// Sends a GET that the proxy answers without the origin.
  ///
  /// - Returns: the answer.
  func hit(_ target: String, fields: String = "", host: String = "h") async throws -> String {
    let client = try connect()
    client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n")
    return try await client.receiveAll()
  }
}
