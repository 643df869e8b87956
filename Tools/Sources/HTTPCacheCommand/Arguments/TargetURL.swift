import ArgumentParser
import Foundation
import HTTPCaching

/// An absolute URL as an argument, taken apart for a request.
struct TargetURL: Sendable, Equatable {
  /// As it was given.
  let text: String
  /// `http` or `https`.
  let scheme: String
  /// Host and port.
  let authority: String
  /// Path and query.
  let path: String
  /// What the cache knows it by (RFC 9110 §4.2.3).
  let normalized: String

  /// Reads a URL. Characters that a URI must not hold are percent-encoded; the fragment is dropped.
  ///
  /// - Throws: `ValidationError` for anything but an absolute `http` or `https` URL.
  init(parsing text: String) throws {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else {
      throw ValidationError("'\(text)' is not an absolute URL, such as https://example.com/")
    }
    guard scheme == "http" || scheme == "https" else {
      throw ValidationError("'\(text)' is neither an http nor an https URL")
    }
    guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
      throw ValidationError(
        "credentials in a URL are not sent; use -H 'Authorization: …' instead ('\(url.host() ?? "")')")
    }
    let encoded = url.absoluteString
    guard let slashes = encoded.range(of: "://") else {
      throw ValidationError("'\(text)' has no host")
    }
    let rest = encoded[slashes.upperBound...].prefix { $0 != "#" }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    guard end > rest.startIndex, url.host()?.isEmpty == false else {
      throw ValidationError("'\(text)' has no host")
    }
    let path = rest[end...]
    self.text = text
    self.scheme = scheme
    authority = String(rest[..<end])
    self.path = path.hasPrefix("/") ? String(path) : "/" + path
    guard let normalized = TargetURI.normalized("\(scheme)://\(authority)\(self.path)") else {
      throw ValidationError("'\(text)' is not a URL that can be asked for")
    }
    self.normalized = normalized
  }

  /// A prefix of URLs as the cache knows them; one that ends within the host stays as it is.
  static func normalizedPrefix(_ prefix: String) -> String {
    guard let slashes = prefix.range(of: "://"), prefix[slashes.upperBound...].contains("/") else {
      return prefix
    }
    return TargetURI.normalized(prefix) ?? prefix
  }

  /// A request for it.
  func request(_ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]) -> HTTPRequest {
    HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
  }
}
