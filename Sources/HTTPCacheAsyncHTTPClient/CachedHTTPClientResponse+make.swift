#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCacheNIO
  import HTTPCaching
  import NIOHTTP1

  extension CachedHTTPClientResponse {
    /// The cache's response in AsyncHTTPClient's types.
    init(_ response: CacheResponse, to request: HTTPClientRequest) {
      let status = HTTPResponseStatus(
        statusCode: response.head.status.code, reasonPhrase: response.head.status.reasonPhrase)
      var headers = HTTPHeaders()
      headers.reserveCapacity(response.head.headerFields.count)
      for field in response.head.headerFields {
        headers.add(name: field.name.rawName, value: field.value)
      }
      var answered = request
      if !response.redirects.isEmpty { answered.url = response.finalTarget }
      self.init(
        response: HTTPClientResponse(
          status: status, headers: headers, body: .stream(BufferSequence(response.body)),
          history: [
            HTTPClientRequestResponse(
              request: answered,
              responseHead: HTTPResponseHead(version: .http1_1, status: status, headers: headers))
          ]),
        cacheOutcome: response.outcome, redirects: response.redirects)
    }
  }
#endif
