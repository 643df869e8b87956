#if Hummingbird
  import HTTPCaching
  public import Hummingbird

  /// Adds a `Cache-Control` to the responses of the routes below it that say nothing about caching.
  ///
  /// ```swift
  /// router.group("articles").add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
  /// ```
  ///
  /// Only successful answers to GET and HEAD get it. Add it after the `CacheMiddleware` that should obey it.
  ///
  /// An answer to a request with `Authorization` or `Cookie`, or with `Set-Cookie`, may be for one user, so a
  /// default must not share it (RFC 9111 §3.5, §7.3): it gets `private` instead of `public`. A route whose
  /// answers are equal for all users has to say so itself.
  public struct DefaultCacheControlMiddleware<Context: RequestContext>: RouterMiddleware {
    private let value: String
    private let valueForOneUser: String

    /// Makes a middleware.
    ///
    /// - Parameter directives: the directives of the field (RFC 9111 §5.2.2).
    public init(_ directives: Hummingbird.CacheControl.CacheControlValue...) {
      let directives = directives.map(\.description)
      value = directives.joined(separator: ", ")
      if directives.contains("private") || directives.contains("no-store") {
        valueForOneUser = value
      } else {
        valueForOneUser = (["private"] + directives.filter { $0 != "public" }).joined(separator: ", ")
      }
    }

    /// Adds the field.
    ///
    /// - Throws: what `next` throws.
    public func handle(
      _ request: Request, context: Context,
      next: (Request, Context) async throws -> Response
    ) async throws -> Response {
      var response = try await next(request, context)
      guard request.method == .get || request.method == .head,
        response.status.kind == .successful || response.status == .notModified,
        !response.headers.contains(.cacheControl), !response.headers.contains(.expires)
      else { return response }
      let isForOneUser =
        request.headers.contains(.authorization) || request.headers.contains(.cookie)
        || response.headers.contains(.setCookie)
      response.headers[.cacheControl] = isForOneUser ? valueForOneUser : value
      return response
    }
  }
#endif
