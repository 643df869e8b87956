#if AsyncHTTPClient
  public import AsyncHTTPClient
  public import Foundation
  import HTTPCacheNIO
  public import HTTPCaching
  import NIOHTTP1

  /// A response of AsyncHTTPClient with its cache outcome. It has the properties of `HTTPClientResponse`:
  /// `status`, `headers`, `body`, `history`, `url`.
  @dynamicMemberLookup
  public struct CachedHTTPClientResponse: Sendable {
    /// The response, for code that takes AsyncHTTPClient's type.
    ///
    /// Its history has one element: the last request, after redirects.
    public var response: HTTPClientResponse
    /// Where it came from, and why.
    public let cacheOutcome: CacheOutcome
    /// The outcomes of the redirects that were followed, first to last.
    public let redirects: [CacheOutcome]

    /// A property of the response.
    public subscript<Value>(dynamicMember path: WritableKeyPath<HTTPClientResponse, Value>) -> Value {
      get { response[keyPath: path] }
      set { response[keyPath: path] = newValue }
    }

    /// A property of the response.
    public subscript<Value>(dynamicMember path: KeyPath<HTTPClientResponse, Value>) -> Value {
      response[keyPath: path]
    }
  }

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

  /// No stored response could answer a request whose policy forbids asking the origin.
  public struct CacheOnlyMiss: Error, Sendable, CustomStringConvertible {
    /// Why no stored response could answer.
    public let reason: UnsatisfiableReason

    /// The reason in words.
    public var description: String { "nothing stored may answer: \(reason)" }
  }

  extension CacheOnlyMiss: LocalizedError {
    /// The reason in words.
    public var errorDescription: String? { description }
  }
#endif
