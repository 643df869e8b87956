import Foundation
import HTTPCaching

/// A cookie with its attributes (RFC 6265 §5.3).
struct Cookie: Sendable, Equatable {
  /// Maximum bytes of name and value together, as in browsers (RFC 6265 §6.1 asks for at least as many).
  static let byteLimit = 4_096

  let name: String
  let value: String
  /// In lower case, without a leading dot.
  let domain: String
  /// Whether the cookie is for the host `domain` alone, not for the hosts below it.
  let isHostOnly: Bool
  let path: String
  /// Whether the cookie is for https alone.
  let isSecure: Bool
  /// Whether scripts may not read the cookie. Has no effect here, and is kept in files.
  let isHTTPOnly: Bool
  /// Seconds since 1970; nil for a cookie of the session.
  let expiry: Int64?

  /// Makes a cookie.
  ///
  /// - Returns: nil for a name, value, domain or path with characters that a field or a file cannot hold, and for one that
  ///   is too long.
  init?(
    name: String, value: String, domain: String, isHostOnly: Bool, path: String, isSecure: Bool = false,
    isHTTPOnly: Bool = false, expiry: Int64? = nil
  ) {
    guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.byteLimit, !name.contains("="),
      !name.contains(";"), !value.contains(";"), Self.isPlain(name), Self.isPlain(value), !domain.isEmpty,
      Self.isPlain(domain), domain.utf8.count <= 255, !domain.contains(" "), path.hasPrefix("/"),
      path.utf8.count <= Self.byteLimit, Self.isPlain(path)
    else { return nil }
    self.name = name
    self.value = value
    self.domain = domain
    self.isHostOnly = isHostOnly
    self.path = path
    self.isSecure = isSecure
    self.isHTTPOnly = isHTTPOnly
    self.expiry = expiry
  }

  /// Without control characters, which would end a line of a field or of a file.
  private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

  /// Whether the cookie is over.
  func isExpired(at now: Timestamp) -> Bool { expiry.map { $0 <= now.seconds } ?? false }

  /// The properties that two cookies share if the later one takes the place of the earlier one (RFC 6265 §5.3, step 11).
  struct Key: Hashable {
    let name: String
    let domain: String
    let path: String
  }

  /// The properties that identify the cookie.
  var key: Key { Key(name: name, domain: domain, path: path) }

  /// Whether a cookie that http set would hide this one, which only https may change (RFC 6265bis, Storage Model: same
  /// name, one domain is in the other, and its path is at or below this one's).
  func isProtected(from other: Cookie) -> Bool {
    isSecure && name == other.name
      && (CookiePlace.isHost(domain, in: other.domain) || CookiePlace.isHost(other.domain, in: domain))
      && CookiePlace.isPath(other.path, below: path)
  }

  /// Whether a request gets the cookie (RFC 6265 §5.4, step 1).
  func isFor(_ place: CookiePlace) -> Bool {
    (isHostOnly ? place.host == domain : place.isIn(domain: domain)) && place.isBelow(path: path)
      && (!isSecure || place.isSecure)
  }
}

extension Cookie {
  /// Reads the value of `Set-Cookie` (RFC 6265 §5.2, §5.3).
  ///
  /// Beyond the RFC, as in browsers and curl: only https sets cookies with `Secure`, and names that begin with
  /// `__Secure-` or `__Host-` keep what they promise.
  ///
  /// - Parameters:
  ///   - text: the value of one field.
  ///   - place: what the response answers.
  ///   - now: the time of the response.
  ///   - suffixes: domains below which anyone may have a name.
  /// - Returns: nil for a cookie that is to be ignored. A cookie that is expired removes an earlier one.
  init?(setCookie text: String, from place: CookiePlace, now: Timestamp, suffixes: PublicSuffixes) {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
    var (domain, path) = ("", "")
    var (expiry, age): (Int64?, Int64?) = (nil, nil)
    var (isSecure, isHTTPOnly) = (false, false)
    for part in parts.dropFirst() {
      let (key, value) = Self.attribute(part)
      switch key {
      case "expires": expiry = CookieDate.seconds(of: value) ?? expiry
      case "max-age": age = Self.age(value) ?? age
      case "domain" where !value.isEmpty:
        domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
      case "path": path = value
      case "secure": isSecure = true
      case "httponly": isHTTPOnly = true
      default: break
      }
    }
    if let age {
      let (end, isTooLarge) = now.seconds.addingReportingOverflow(age)
      expiry = age <= 0 ? 0 : isTooLarge ? .max : end
    }
    // A final dot names the root: no host is in such a domain, and lists of domains do not have it.
    guard !domain.hasSuffix(".") else { return nil }
    // A public suffix may have a site of its own, whose cookie is for that host alone (§5.3, step 5).
    if !domain.isEmpty, suffixes.contains(domain) {
      guard domain == place.host else { return nil }
      domain = ""
    }
    guard domain.isEmpty || place.isIn(domain: domain), !isSecure || place.isSecure else { return nil }
    self.init(
      name: Self.trimmed(pair[..<equals]), value: Self.trimmed(pair[pair.index(after: equals)...]),
      domain: domain.isEmpty ? place.host : domain, isHostOnly: domain.isEmpty,
      path: path.hasPrefix("/") ? path : place.defaultPath, isSecure: isSecure, isHTTPOnly: isHTTPOnly,
      expiry: expiry)
    let prefix = name.lowercased()
    if prefix.hasPrefix("__secure-"), !isSecure { return nil }
    if prefix.hasPrefix("__host-"), !isSecure || !isHostOnly || self.path != "/" { return nil }
  }

  private static func attribute(_ part: Substring) -> (name: String, value: String) {
    guard let equals = part.firstIndex(of: "=") else { return (trimmed(part).lowercased(), "") }
    return (trimmed(part[..<equals]).lowercased(), trimmed(part[part.index(after: equals)...]))
  }

  /// The value of `Max-Age` in seconds (RFC 6265 §5.2.2); nil for something else than a number.
  private static func age(_ text: String) -> Int64? {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return isNegative ? 0 : Int64(digits) ?? .max
  }

  private static func trimmed(_ text: Substring) -> String {
    let isSpace = { (character: Character) in character == " " || character == "\t" }
    guard let end = text.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(text[...end].drop(while: isSpace))
  }
}
