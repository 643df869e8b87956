import HTTPCaching
import HTTPTypes

extension CachedURLSession {
  /// The maximum number of redirects, as in Foundation.
  private static let redirectLimit = 20

  /// Loads a response up to its body, following redirects.
  func load(
    _ request: URLRequest, content: RequestBody, options: LoadOptions,
    delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> LoadedResponse {
    try checkValid()
    guard let first = request.url, let scheme = first.scheme?.lowercased() else {
      throw URLError.make(.badURL, "the request has no URL with a scheme", url: request.url)
    }
    guard scheme == "http" || scheme == "https" else { return try await passOn(request) }
    let delegates: [any URLSessionDelegate] = [delegate, self.delegate].compactMap { $0 }
    let calls = TaskCalls(for: request, delegates: delegates, foundation: foundation)
    let policy = options.cachePolicy ?? policy(of: request)
    let context = RequestContext(
      prototype: request, content: content, delegates: delegates,
      isShared: cache.configuration.rules.mode == .shared)
    var next = try HTTPRequest(withConfiguredFields(request, content))
    var nextContent = content
    var url = first
    // A field that Foundation made from this cookie storage is made again for each hop.
    if let cookie = next.headerFields[.cookie], cookie == cookies?.field(for: first) {
      next.headerFields[.cookie] = nil
    }
    var redirects: [CacheOutcome] = []
    while true {
      let current = withCookies(next, prototype: request, url: url)
      var response = try await cache.respond(
        to: current, body: try nextContent.make(), policy: policy,
        options: self.options(options, context), via: upstream)
      if case .unsatisfiable(let reason) = response.outcome {
        throw URLError.make(.resourceUnavailable, "\(reason)", url: url)
      }
      response.redirects = redirects
      guard
        let redirect = Redirect(
          of: next, isRepeatable: nextContent.isRepeatable, response: response.head,
          base: response.finalTarget)
      else { return try await loaded(response, url: url, calls: calls) }
      guard redirects.count < Self.redirectLimit else {
        response.body.source.cancel()
        throw URLError.make(
          .httpTooManyRedirects, "more than \(Self.redirectLimit) redirects", url: first)
      }
      let proposed = try urlRequest(for: redirect.request, like: request)
      guard let answer = try await calls.follow(proposed, after: response, url) else {
        return try await loaded(response, url: url, calls: calls)
      }
      redirects.append(response.outcome)
      try await Redirect.drain(response.body)
      guard let followed = answer.url else {
        throw URLError.make(.badURL, "the delegate's request has no URL", url: url)
      }
      url = followed
      next = try HTTPRequest(answer)
      if next.method == .get || next.method == .head { nextContent = .none }
    }
  }

  func options(
    _ options: LoadOptions, _ context: RequestContext, redirectLimit: Int = 0
  ) -> RequestOptions {
    var made = RequestOptions(
      partition: partition, redirectLimit: redirectLimit, bodyForms: .decoded, timeout: options.timeout,
      priority: options.priority ?? Task.currentPriority, context: context, willStore: options.willStore,
      onInterim: options.onInterim)
    made.isOneUser = true
    return made
  }

  /// The request as the cache sees it, with the fields and cookies that Foundation would add.
  func cacheRequest(_ request: URLRequest, _ content: RequestBody) throws -> HTTPRequest {
    let made = try HTTPRequest(withConfiguredFields(request, content))
    guard let url = request.url else {
      throw URLError.make(.badURL, "the request has no URL", url: nil)
    }
    return withCookies(made, prototype: request, url: url)
  }

  /// The policy of a request, or if it has none, of the configuration.
  func policy(of request: URLRequest) -> CachePolicy {
    request.cachePolicy == .useProtocolCachePolicy
      ? CachePolicy(configuration.requestCachePolicy) : CachePolicy(request.cachePolicy)
  }

  /// The request with the fields that Foundation would add.
  private func withConfiguredFields(_ request: URLRequest, _ content: RequestBody) -> URLRequest {
    var request = request
    request.addMissing(configuration.httpAdditionalHeaders ?? [:])
    if request.httpMethod == "POST", request.httpBody != nil || request.httpBodyStream != nil,
      !content.isEmpty, request.value(forHTTPHeaderField: "Content-Type") == nil
    {
      request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    }
    return request
  }

  private func withCookies(
    _ request: HTTPRequest, prototype: URLRequest, url: URL
  ) -> HTTPRequest {
    guard prototype.httpShouldHandleCookies, !request.headerFields.contains(.cookie),
      let field = cookies?.field(for: url)
    else { return request }
    var request = request
    // In one line: the subscript would make a field of each cookie.
    request.headerFields[fields: .cookie] = [HTTPField(name: .cookie, value: field)]
    return request
  }

  /// The request of a redirect as delegates see it.
  private func urlRequest(for request: HTTPRequest, like prototype: URLRequest) throws -> URLRequest {
    let made = try URLRequest(request)
    var next = prototype
    next.url = made.url
    next.httpMethod = made.httpMethod
    next.allHTTPHeaderFields = made.allHTTPHeaderFields
    if request.method == .get || request.method == .head {
      next.httpBody = nil
      next.httpBodyStream = nil
    }
    return next
  }

  /// The response for the caller, after its delegate has agreed.
  private func loaded(
    _ response: CacheResponse, url: URL, calls: TaskCalls
  ) async throws -> LoadedResponse {
    guard let made = recentResponses.response(for: response, url: url) else {
      response.body.source.cancel()
      throw URLError.make(.badServerResponse, "Foundation refuses the response", url: url)
    }
    guard try await calls.accept(made) else {
      response.body.source.cancel()
      throw URLError.make(.cancelled, "the delegate refused the response", url: url)
    }
    return LoadedResponse(response: made, body: response.body, cached: response)
  }

  /// Lets Foundation load URLs other than HTTP.
  private func passOn(_ request: URLRequest) async throws -> LoadedResponse {
    let (data, response) = try await foundation.current().passOn(request)
    return LoadedResponse(response: response, body: MessageBody(BodyBytes(data)), cached: nil)
  }
}
