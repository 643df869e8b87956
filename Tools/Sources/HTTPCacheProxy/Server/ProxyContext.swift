import HTTPCaching

/// The objects that the connections of a server share.
struct ProxyContext: Sendable {
  let configuration: ProxyServer.Configuration
  let cache: HTTPCache
  let upstream: NIOUpstream
  let via: ViaField
  let registry = ConnectionRegistry()

  init(configuration: ProxyServer.Configuration, cache: HTTPCache, upstream: NIOUpstream) {
    self.configuration = configuration
    self.cache = cache
    self.upstream = upstream
    via = ViaField(name: configuration.name)
  }
}
