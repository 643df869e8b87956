import HTTPCacheProxy
import NIOCore
import NIOPosix

/// The upstreams whose host names do not resolve. The server starts all the same: names of other machines may become
/// known after it.
enum UnresolvedUpstreams {
  /// A message for each of them.
  static func messages(_ mode: ProxyServer.Mode) async -> [String] {
    guard case .gateway(let routes) = mode else { return [] }
    let origins = Set(routes.flatMap(\.group.addresses))
    return await withTaskGroup(of: String?.self) { group in
      for origin in origins {
        group.addTask {
          let isKnown = try? await NIOThreadPool.singleton.runIfActive {
            (try? SocketAddress.makeAddressResolvingHost(origin.host, port: origin.port)) != nil
          }
          guard isKnown == false else { return nil }
          return
            "httpcache: warning: the host name of \(origin) does not resolve; its requests get 502 until it does"
        }
      }
      return await group.reduce(into: []) { messages, message in
        if let message { messages.append(message) }
      }.sorted()
    }
  }
}
