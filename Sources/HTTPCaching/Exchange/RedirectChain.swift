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
  /// The outcomes of the redirects, first to last.
  private(set) var outcomes: [CacheOutcome] = []

  init(of request: HTTPRequest, limit: Int) {
    self.request = request
    self.limit = limit
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
    keepsContent = next.keepsContent
    return .follow
  }
}
