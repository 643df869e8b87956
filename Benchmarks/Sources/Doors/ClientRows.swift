#if AsyncHTTPClient
  import AsyncHTTPClient
  import Foundation
  import HTTPCacheAsyncHTTPClient
  import HTTPCaching
  import NIOCore
  import NIOHTTP1

  extension DoorRows {
    /// A hit, beside the request and the response that the caller and the client must make for it.
    static func clients(_ url: URL, _ cache: HTTPCache) -> [DoorRow] {
      let client = CachedHTTPClient(cache: cache)
      let text = url.absoluteString
      let body = ByteBuffer(repeating: 0x61, count: size)
      return [
        DoorRow(name: "AsyncHTTPClient: a request, and a response of a ByteBuffer") {
          let request = HTTPClientRequest(url: text)
          var headers = HTTPHeaders()
          for (name, value) in FixedOrigin.dictionary { headers.add(name: name, value: value) }
          let response = HTTPClientResponse(
            status: .ok, headers: headers, body: .bytes(body),
            history: [
              HTTPClientRequestResponse(
                request: request,
                responseHead: HTTPResponseHead(version: .http1_1, status: .ok, headers: headers))
            ])
          try check(try await response.body.collect(upTo: 1 << 20).readableBytes)
        },
        DoorRow(name: "CachedHTTPClient.execute") {
          let response = try await client.execute(HTTPClientRequest(url: text), timeout: .seconds(1))
          try check(try await response.body.collect(upTo: 1 << 20).readableBytes)
        },
      ]
    }
  }
#endif
