import HTTPCaching
import Synchronization

/// The Foundation responses that were made last. Foundation takes longer to make one than the cache takes to
/// answer, so the answers from one stored response within one second share theirs.
final class RecentURLResponses: Sendable {
  private struct Made {
    let owner: any AnyObject & Sendable
    let outcome: CacheOutcome
    let url: URL
    let response: CachedHTTPURLResponse
  }

  private static let count = 64
  // By the identity of the owner, which is not used again while a place holds the owner.
  private let places = Mutex([Made?](repeating: nil, count: RecentURLResponses.count))

  /// Foundation's response for an answer from a URL; nil if Foundation refuses it.
  func response(for answer: CacheResponse, url: URL) -> CachedHTTPURLResponse? {
    guard let owner = answer.headOwner, answer.redirects.isEmpty else {
      return CachedHTTPURLResponse(answer, url: url)
    }
    let place = Int(UInt(bitPattern: ObjectIdentifier(owner).hashValue) % UInt(Self.count))
    let known = places.withLock { places -> CachedHTTPURLResponse? in
      guard let made = places[place], made.owner === owner, made.outcome == answer.outcome, made.url == url
      else { return nil }
      return made.response
    }
    if let known { return known }
    guard let response = CachedHTTPURLResponse(answer, url: url) else { return nil }
    let made = Made(owner: owner, outcome: answer.outcome, url: url, response: response)
    places.withLock { $0[place] = made }
    return response
  }
}
