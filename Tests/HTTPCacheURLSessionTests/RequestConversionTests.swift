import Foundation
import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import Testing

@testable import HTTPCacheURLSession

@Suite(.timeLimit(.minutes(10))) struct RequestConversionTests {
  private func converted(_ text: String) throws -> HTTPRequest {
    let url = try #require(URL(string: text))
    return try HTTPRequest(URLRequest(url: url))
  }

  @Test(arguments: [
    ("http://a.test", "http", "a.test", "/"),
    ("http://a.test/", "http", "a.test", "/"),
    ("HTTPS://a.test:8443/x/y?b=1&a=2", "https", "a.test:8443", "/x/y?b=1&a=2"),
    ("http://a.test?q", "http", "a.test", "/?q"),
    ("http://a.test/x#part?no", "http", "a.test", "/x"),
    ("http://a.test/?", "http", "a.test", "/?"),
    ("http://a.test/%e4%B8%80/%7Eme?x=%20", "http", "a.test", "/%e4%B8%80/%7Eme?x=%20"),
    ("http://[2001:db8::1]:8080/v6", "http", "[2001:db8::1]:8080", "/v6"),
    ("http://a.test/a/../b/./c", "http", "a.test", "/a/../b/./c"),
  ])
  func targetIsThatOfTheURL(text: String, scheme: String, authority: String, path: String) throws {
    let request = try converted(text)
    #expect(request.scheme == scheme)
    #expect(request.authority == authority)
    #expect(request.path == path)
    #expect(request.headerFields.isEmpty)
  }

  @Test func textOutsideASCIIIsEncoded() throws {
    let request = try converted("http://a.test/straße/日本?q=ü")
    #expect(request.path == "/stra%C3%9Fe/%E6%97%A5%E6%9C%AC?q=%C3%BC")
  }

  @Test func relativeURLIsResolved() throws {
    let url = try #require(URL(string: "b?c", relativeTo: URL(string: "http://a.test/x/y")))
    let request = try HTTPRequest(URLRequest(url: url))
    #expect(request.authority == "a.test")
    #expect(request.path == "/x/b?c")
  }

  @Test(arguments: [
    "file:///etc/hosts", "data:text/plain,x", "ftp://a.test/", "about:blank", "http:a", "/only/a/path",
    "http:///nowhere",
  ])
  func whatIsNoHTTPIsRefused(text: String) throws {
    let request = URLRequest(url: try #require(URL(string: text)))
    let error = #expect(throws: CacheError.self) { try HTTPRequest(request) }
    #expect(error?.code == .invalidRequest)
  }

  @Test func requestWithoutURLIsRefused() throws {
    var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
    request.url = nil
    let error = #expect(throws: CacheError.self) { try HTTPRequest(request) }
    #expect(error?.code == .invalidRequest)
  }

  @Test func lengthIsLimited() throws {
    let fits = "http://a.test/" + String(repeating: "a", count: TargetURI.lengthLimit - 14)
    #expect(try converted(fits).path?.utf8.count == TargetURI.lengthLimit - 13)
    #expect(throws: CacheError.self) { try converted(fits + "a") }
  }

  @Test func userInformationBecomesAuthorization() throws {
    let request = try converted("http://me:p%40ss@a.test:81/x")
    #expect(request.authority == "a.test:81")
    #expect(request.headerFields[.authorization] == "Basic " + Data("me:p@ss".utf8).base64EncodedString())
  }

  @Test func authorizationOfTheRequestWins() throws {
    var request = URLRequest(url: try #require(URL(string: "http://me:x@a.test/")))
    request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
    #expect(try HTTPRequest(request).headerFields[.authorization] == "Bearer t")
  }

  @Test func methodAndFieldsArePassedOn() throws {
    var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
    request.httpMethod = "PURGE"
    request.setValue("a, b", forHTTPHeaderField: "x-list")
    request.setValue("größe", forHTTPHeaderField: "X-Text")
    request.setValue("a=1; b=2", forHTTPHeaderField: "Cookie")
    let converted = try HTTPRequest(request)
    #expect(converted.method.rawValue == "PURGE")
    #expect(converted.headerFields["X-List"] == ["a, b"])
    #expect(converted.headerFields["X-Text"] == ["größe"])
    #expect(converted.headerFields[.cookie] == "a=1; b=2")
  }

  @Test func hostStaysOnlyWhereItSaysSomethingElse() throws {
    var request = URLRequest(url: try #require(URL(string: "http://a.test:81/")))
    request.setValue("a.test:81", forHTTPHeaderField: "Host")
    #expect(try !HTTPRequest(request).namesOtherHost)
    request.setValue("b.test", forHTTPHeaderField: "Host")
    #expect(try HTTPRequest(request).namesOtherHost)
  }

  @Test func goesBackToFoundation() throws {
    var request = HTTPRequest(
      method: .head, scheme: "https", authority: "[::1]:8443", path: "/a%2Fb/../c?d=%E2%82%AC")
    request.headerFields.append(HTTPField(name: .accept, value: "a/b"))
    request.headerFields.append(HTTPField(name: .accept, value: "c/d"))
    request.headerFields.append(HTTPField(name: .cookie, value: "a=1"))
    request.headerFields.append(HTTPField(name: .cookie, value: "b=2"))
    let foundation = try URLRequest(request)
    #expect(foundation.url?.absoluteString == "https://[::1]:8443/a%2Fb/../c?d=%E2%82%AC")
    #expect(foundation.httpMethod == "HEAD")
    #expect(foundation.value(forHTTPHeaderField: "accept") == "a/b, c/d")
    #expect(foundation.value(forHTTPHeaderField: "cookie") == "a=1; b=2")
    let again = try HTTPRequest(foundation)
    #expect(again.path == request.path)
    #expect(again.authority == request.authority)
  }

  @Test(arguments: ["*", "", "a"])
  func formsThatFoundationCannotSendAreRefused(path: String) {
    let request = HTTPRequest(method: .options, scheme: "http", authority: "a.test", path: path)
    #expect(throws: CacheError.self) { try URLRequest(request) }
  }

  @Test func authorityThatIsNoneIsRefused() {
    let request = HTTPRequest(method: .get, scheme: "http", authority: "", path: "/")
    #expect(throws: CacheError.self) { try URLRequest(request) }
  }
}

extension HTTPFields {
  subscript(name: String) -> [String] {
    guard let name = HTTPField.Name(name) else { return [] }
    return self[values: name]
  }
}
