import HTTPCacheSemantics
import HTTPTypes

/// The redirects that are followed for a request.
struct RedirectChain {
  enum Step {
    /// The response is the last one.
    case end
    /// `request` is the next one.
    case follow
    case limitReached
  }

  private(set) var request: HTTPRequest
  /// Whether `request` has the content of the request before, if there is any.
  private(set) var keepsContent = true
  private let limit: Int
  private let willFollow: (@Sendable (HTTPResponse, inout HTTPRequest) -> Void)?
  /// The outcomes of the redirects, first to last.
  private(set) var outcomes: [CacheOutcome] = []

  init(of request: HTTPRequest, options: RequestOptions) {
    self.request = request
    limit = options.redirectLimit
    willFollow = options.willFollow
  }

  /// - Parameters:
  ///   - response: the response to `request`.
  ///   - isRepeatable: whether the content of `request` can be sent again.
  mutating func step(after response: CacheResponse, isRepeatable: Bool) -> Step {
    guard limit > 0,
      let next = Redirect(
        of: request, isRepeatable: isRepeatable, response: response.head, base: response.finalTarget)
    else { return .end }
    guard outcomes.count < limit else { return .limitReached }
    outcomes.append(response.outcome)
    request = next.request
    willFollow?(response.head, &request)
    keepsContent = next.keepsContent
    return .follow
  }
}

extension Engine {
  /// As `HTTPCache.respond(to:body:policy:options:via:)`: runs an exchange for the request and for each redirect.
  func respond(
    to request: HTTPRequest, body: MessageBody?, policy: CachePolicy, options: RequestOptions,
    via upstream: any Upstream
  ) async throws -> CacheResponse {
    do {
      var chain = RedirectChain(of: request, options: options)
      var body = body
      while true {
        let request = options.adding(to: chain.request)
        var response: CacheResponse
        var isRepeatable = true
        var content: QueryContent?
        let place = try lookup.place(of: request, options: options)
        if body == nil, policy == .standard, let hit = peek(request, at: place, options: options) {
          response = hit
        } else {
          if request.method == .query {
            content = try await QueryContent.read(
              body, of: request, policy: policy, rules: configuration.rules)
          }
          let exchange = lookup.exchange(
            for: request, at: place, hasBody: body.map { $0.length != 0 } ?? false, content: content,
            policy: policy, options: options)
          isRepeatable = exchange.isRepeatable
          let runner = ExchangeRunner(engine: self, options: options, upstream: upstream, body: body)
          response = try await runner.run(exchange)
        }
        isRepeatable = isRepeatable || options.contentAgain != nil
        switch chain.step(after: response, isRepeatable: isRepeatable) {
        case .end:
          response.redirects = chain.outcomes
          return response
        case .limitReached:
          response.body.source.cancel()
          throw UpstreamError(
            .protocol, "more than \(options.redirectLimit) redirects",
            cause: RedirectLimitReached(limit: options.redirectLimit))
        case .follow: try await Redirect.drain(response.body)
        }
        if body == nil || !chain.keepsContent {
          body = nil
        } else if let content, content.isRepeatable {
          body = content.makeBody()
        } else {
          body = try options.contentAgain?()
        }
      }
    } catch let error as UpstreamError {
      throw error.ofCaller
    }
  }
}
