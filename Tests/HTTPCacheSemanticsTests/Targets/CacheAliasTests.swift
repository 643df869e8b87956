import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("Names of cache items that responses give", .timeLimit(.minutes(10)))
struct CacheAliasTests {
  private func read(_ values: String..., target: String = "https://example.com/a") throws
    -> CacheAlias.Reading
  {
    let name = try #require(HTTPField.Name("MobileAppCacheKey"))
    var fields = HTTPFields()
    for value in values {
      fields.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
    }
    return CacheAlias.read(name, in: fields, target: target)
  }

  @Test("a name is of its origin, scheme and port, and is no URL's key")
  func items() throws {
    #expect(try read("news") == .item(target: "https://example.com/#mobileappcachekey=news"))
    #expect(
      try read(" a/b?c#d&e ", target: "http://example.com:81/x")
        == .item(target: "http://example.com:81/#mobileappcachekey=a%2Fb%3Fc%23d%26e"))
    #expect(try read("../x") == .item(target: "https://example.com/#mobileappcachekey=..%2Fx"))
    #expect(try read() == .absent)
    #expect(try read("a", "a") == (try read("a")))
  }

  @Test("a URL of the same origin is a name like any other, one of another origin is refused")
  func urls() throws {
    #expect(
      try read("https://example.com/b")
        == .item(target: "https://example.com/#mobileappcachekey=https%3A%2F%2Fexample.com%2Fb"))
    for value in [
      "https://other.example/b", "http://example.com/b", "//other.example/", "https://example.com:444/",
      "x://", "https://example.com@evil/",
    ] {
      #expect(try read(value) == .refused(.otherOrigin), "\(value)")
    }
  }

  @Test("empty, long, odd and contradictory names are refused")
  func refused() throws {
    #expect(try read("") == .refused(.empty))
    #expect(try read("  ") == .refused(.empty))
    #expect(try read(String(repeating: "a", count: 257)) == .refused(.tooLong))
    #expect(try read("a b") == .refused(.badOctets))
    #expect(try read("a\tb") == .refused(.badOctets))
    #expect(try read("ü") == .refused(.badOctets))
    #expect(try read("a", "b") == .refused(.contradictory))
  }
}
