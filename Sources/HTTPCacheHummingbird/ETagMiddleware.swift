#if Hummingbird
  import HTTPCacheSemantics
  import HTTPCaching
  public import Hummingbird

  /// Gives responses an entity tag made from their body, and answers 304 if the client has that body already
  /// (RFC 9110 §8.8.3, §13.1.2).
  ///
  /// It handles answers with status 200 to GET, and to HEAD if the route provides the body, with a known
  /// length within a limit. A tag from the route stays. Streams, and responses with `no-store`, pass
  /// unchanged. Add it after a `CacheMiddleware`, so that stored responses have the tag, and before
  /// compression, whose output needs different tags.
  public struct ETagMiddleware<Context: RequestContext>: RouterMiddleware {
    private let limit: Int

    /// Makes a middleware.
    ///
    /// - Parameter limit: the longest body in bytes that is read into memory to make a tag.
    public init(limit: Int = 1 << 20) { self.limit = limit }

    /// Adds the tag, or answers 304.
    ///
    /// - Throws: what `next` or the response's body throws.
    public func handle(
      _ request: Request, context: Context,
      next: (Request, Context) async throws -> Response
    ) async throws -> Response {
      var response = try await next(request, context)
      guard request.method == .get || request.method == .head, response.status == .ok,
        !Self.forbidsStoring(response.headers)
      else { return response }
      if !response.headers.contains(.eTag) {
        guard let length = response.body.contentLength, length <= limit,
          response.headers[.contentLength].map({ $0 == String(length) }) ?? true
        else { return response }
        let body = try await BodyCollector.collect(response.body, length: length)
        response.headers[.eTag] = StrongETag.make(of: body, described: response.headers)
        response.body = ResponseBody(byteBuffer: body)
      }
      guard Preconditions.matchesAny(request.headers, of: response.headers) else { return response }
      return Self.notModified(response)
    }

    private static func forbidsStoring(_ fields: HTTPFields) -> Bool {
      ResponseDirectives(fields, rules: CacheRules()).noStore
    }

    /// The 304 without the fields that describe content (RFC 9110 §15.4.5).
    private static func notModified(_ response: Response) -> Response {
      var fields = response.headers
      for name in [
        HTTPField.Name.contentLength, .contentType, .contentEncoding, .contentLanguage,
        .contentRange, .lastModified, .transferEncoding,
      ] { fields[name] = nil }
      return Response(
        status: .notModified, headers: fields,
        body: ResponseBody(contentLength: nil) { writer in try await writer.finish(nil) })
    }
  }
#endif
