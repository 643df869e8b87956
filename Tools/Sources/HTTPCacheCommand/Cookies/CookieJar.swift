import ArgumentParser
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
  /// - Throws: `ValidationError` if there are more cookies than a jar holds: it would drop some of them, and `-c` would
  ///   write a file without them.
  init(
    _ cookies: [Cookie] = [], clock: any CacheClock = SystemClock(), suffixes: PublicSuffixes = .system
  ) throws(ValidationError) {
    self.clock = clock
    self.suffixes = suffixes
    var places: [Cookie.Key: Int] = [:]
    var kept: [Cookie] = []
    for cookie in cookies {
      if let place = places[cookie.key] {
        kept[place] = cookie
      } else {
        places[cookie.key] = kept.count
        kept.append(cookie)
      }
    }
    let now = clock.now
    kept.removeAll { $0.isExpired(at: now) }
    try Self.checkLimits(kept)
    self.cookies = Mutex(kept)
  }

  private static func checkLimits(_ cookies: [Cookie]) throws(ValidationError) {
    guard cookies.count <= limit else {
      throw ValidationError(
        "--cookie: there are \(cookies.count) cookies, more than \(limit); give a file with fewer")
    }
    let counts = Dictionary(cookies.map { ($0.domain, 1) }, uniquingKeysWith: +)
    guard let most = counts.max(by: { $0.value < $1.value }), most.value > domainLimit else { return }
    throw ValidationError(
      "--cookie: there are \(most.value) cookies of \(most.key), more than \(domainLimit); give a file with fewer"
    )
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
      guard let cookie = Cookie(setCookie: field.value, from: place, now: clock.now, suffixes: suffixes)
      else { continue }
      add(cookie, isFromHTTPS: place.isSecure)
    }
  }

  /// Adds a cookie, and evicts another one beyond the limits. Any server on the way could be the origin of a cookie from
  /// http: it neither hides nor evicts a cookie for https alone.
  private func add(_ cookie: Cookie, isFromHTTPS: Bool) {
    let now = clock.now
    cookies.withLock { cookies in
      guard isFromHTTPS || !cookies.contains(where: { $0.isProtected(from: cookie) }) else { return }
      cookies.removeAll { $0.isExpired(at: now) && $0.key != cookie.key }
      if let index = cookies.firstIndex(where: { $0.key == cookie.key }) {
        // The place in the list stays: it is the time of creation (§5.3, step 11.3).
        cookies[index] = cookie
        if cookie.isExpired(at: now) { cookies.remove(at: index) }
        return
      }
      guard !cookie.isExpired(at: now),
        Self.makePlace(in: &cookies, limit: Self.domainLimit, evictsSecure: isFromHTTPS, of: cookie.domain),
        Self.makePlace(in: &cookies, limit: Self.limit, evictsSecure: isFromHTTPS)
      else { return }
      cookies.append(cookie)
    }
  }

  /// Evicts the earliest cookie, one that is for http too if there is one, if there are as many as the limit.
  ///
  /// - Parameter domain: counts and evicts cookies of this domain; nil is all.
  /// - Returns: whether there is a place for one more.
  private static func makePlace(
    in cookies: inout [Cookie], limit: Int, evictsSecure: Bool, of domain: String? = nil
  ) -> Bool {
    let isCounted = { (other: Cookie) in domain == nil || other.domain == domain }
    guard cookies.count(where: isCounted) >= limit else { return true }
    let plain = cookies.firstIndex { isCounted($0) && !$0.isSecure }
    guard let place = plain ?? (evictsSecure ? cookies.firstIndex(where: isCounted) : nil) else {
      return false
    }
    cookies.remove(at: place)
    return true
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
