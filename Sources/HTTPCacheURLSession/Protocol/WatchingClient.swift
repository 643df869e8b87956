import HTTPCaching
import HTTPTypes

/// Forwards all calls, and tells the cache of responses to unsafe requests (RFC 9111 §4.4).
final class WatchingClient: NSObject, URLProtocolClient, @unchecked Sendable {
  // @unchecked Sendable because its properties are constant, and its client is called where and when
  // Foundation's own protocol calls it.
  private let client: any URLProtocolClient
  private let request: URLRequest
  private let cache: HTTPCache

  init(_ client: any URLProtocolClient, request: URLRequest, cache: HTTPCache) {
    self.client = client
    self.request = request
    self.cache = cache
  }

  func urlProtocol(
    _ loader: URLProtocol, didReceive response: URLResponse,
    cacheStoragePolicy policy: URLCache.StoragePolicy
  ) {
    client.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
  }

  func urlProtocol(
    _ loader: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
  ) {
    client.urlProtocol(loader, wasRedirectedTo: request, redirectResponse: redirectResponse)
  }

  func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
    client.urlProtocol(loader, cachedResponseIsValid: cachedResponse)
  }

  func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
    client.urlProtocol(loader, didLoad: data)
  }

  func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
    // Foundation's own protocol does not pass the response to its client.
    let response = loader.task?.response
    if let head = (response as? HTTPURLResponse).flatMap({ HTTPResponse($0) }),
      let request = try? HTTPRequest(request)
    {
      // Invalidate before the task can end, so that its caller never finds the old response.
      CallingThreadExecutor.wait { [cache] in await cache.invalidate(after: request, head) }
    }
    client.urlProtocolDidFinishLoading(loader)
  }

  func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
    client.urlProtocol(loader, didFailWithError: error)
  }

  func urlProtocol(_ loader: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
    client.urlProtocol(loader, didReceive: challenge)
  }

  func urlProtocol(_ loader: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
    client.urlProtocol(loader, didCancel: challenge)
  }
}
