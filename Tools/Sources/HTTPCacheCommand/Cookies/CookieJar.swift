import HTTPCaching
import Synchronization

/// The cookies of a run of `get`: taken from responses of origins, and added to the requests that they are for (RFC 6265
/// §5.3, §5.4).
final class CookieJar: Sendable {
  /// Maximum numbers of cookies: in all, of a domain, and in a request. RFC 6265 §6.1 asks for at least 3,000 and 50; curl
  /// sends as many in a request.
  private static let (limit, domainLimit, requestLimit) = (3_000, 150, 150)
  /// Maximum bytes of the cookies in a request, as in curl.
  private static let requestByteLimit = 8_190

  private let clock: any CacheClock
  private let suffixes: PublicSuffixes
  /// In the order of their creation.
  private let cookies: Mutex<[Cookie]>

  /// - Parameters:
  ///   - cookies: those of an earlier run, first to last.
  ///   - clock: tells which cookies are expired.
  ///   - suffixes: domains without cookies.
  init(
    _ cookies: [Cookie] = [], clock: any CacheClock = SystemClock(), suffixes: PublicSuffixes = .system
  ) {
    self.clock = clock
    self.suffixes = suffixes
    self.cookies = Mutex([])
    for cookie in cookies { add(cookie) }
  }

  /// The cookies that are not expired, in the order of their creation.
  var all: [Cookie] {
    let now = clock.now
    return cookies.withLock { $0.filter { !$0.isExpired(at: now) } }
  }

  /// Takes the cookies that a response of the origin sets.
  func take(from response: HTTPResponse, to request: HTTPRequest) {
    guard response.headerFields.contains(.setCookie), let place = CookiePlace(request) else { return }
    for field in response.headerFields where field.name == .setCookie {
      guard let cookie = Cookie(setCookie: field.value, from: place, now: clock.now, suffixes: suffixes),
        place.isSecure || !isShadowed(cookie)
      else { continue }
      add(cookie)
    }
  }

  /// Whether a cookie from http would take the place of one for https alone: any server on the way could set it.
  private func isShadowed(_ cookie: Cookie) -> Bool {
    cookies.withLock { $0.contains { $0.isSecure && $0.name == cookie.name && $0.domain == cookie.domain } }
  }

  private func add(_ cookie: Cookie) {
    let now = clock.now
    cookies.withLock { cookies in
      if let index = cookies.firstIndex(where: { $0.isReplaced(by: cookie) }) {
        // The place in the list stays: it is the time of creation (§5.3, step 11.3).
        cookies[index] = cookie
      } else {
        cookies.append(cookie)
      }
      cookies.removeAll { $0.isExpired(at: now) }
      let isOfDomain = { (other: Cookie) in other.domain == cookie.domain }
      if cookies.count(where: isOfDomain) > Self.domainLimit,
        let first = cookies.firstIndex(where: isOfDomain)
      {
        cookies.remove(at: first)
      }
      if cookies.count > Self.limit { cookies.removeFirst() }
    }
  }

  /// Adds the cookies that are for a request, before those that the user gave.
  func addCookies(to request: inout HTTPRequest) {
    guard let place = CookiePlace(request) else { return }
    let found = all.filter { $0.isFor(place) }
    // The longest path first, then the earliest (§5.4, step 2).
    let sorted = found.enumerated().sorted { one, other in
      let (length, otherLength) = (one.element.path.utf8.count, other.element.path.utf8.count)
      return length == otherLength ? one.offset < other.offset : length > otherLength
    }
    var bytes = 0
    var pairs: [String] = []
    for (_, cookie) in sorted.prefix(Self.requestLimit) {
      let pair = "\(cookie.name)=\(cookie.value)"
      bytes += pair.utf8.count + 2
      guard bytes <= Self.requestByteLimit else { break }
      pairs.append(pair)
    }
    guard !pairs.isEmpty else { return }
    pairs += request.headerFields[fields: .cookie].map(\.value)
    // In one line: the subscript would make a field of each cookie.
    request.headerFields[fields: .cookie] = [
      HTTPField(name: .cookie, value: pairs.joined(separator: "; "))
    ]
  }
}
