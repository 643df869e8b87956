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
