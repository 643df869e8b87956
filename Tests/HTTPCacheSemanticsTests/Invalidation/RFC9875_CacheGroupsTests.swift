import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("RFC 9875 Cache groups", .timeLimit(.minutes(10)))
struct RFC9875_CacheGroupsTests {
  private func response(_ name: String, _ values: String...) throws -> HTTPResponse {
    var response = HTTPResponse(status: .ok)
    for value in values {
      response.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    return response
  }

  @Test("§2 A list of strings, over several lines, parameters ignored, none twice")
  func names() throws {
    #expect(try CacheGroups.names(of: response("Cache-Groups", "\"a\", \"b\";x=1", "\"a\"")) == ["a", "b"])
    #expect(try CacheGroups.names(of: response("Cache-Groups", "")) == [])
    #expect(CacheGroups.names(of: HTTPResponse(status: .ok)) == [])
  }

  @Test("§2 A field made of names is read as these names, or not made")
  func fieldValue() throws {
    let names = ["a", "b c", #"d"e\f"#, "g,h"]
    let value = try #require(CacheGroups.fieldValue(of: names))
    #expect(try CacheGroups.names(of: response("Cache-Groups", value)) == names)
    #expect(CacheGroups.fieldValue(of: (0..<257).map { "\($0)" }) == nil)
    #expect(CacheGroups.fieldValue(of: [String(repeating: "\"", count: 8_192)]) == nil)
  }

  // holds 9875-2-1, 9875-3-2
  @Test("§2 At least 32 groups of at least 32 characters")
  func limits() throws {
    let names = (0..<32).map { "\(String(repeating: "g", count: 32))\($0)" }
    let value = names.map { "\"\($0)\"" }.joined(separator: ", ")
    #expect(try CacheGroups.names(of: response("Cache-Groups", value)) == names)
    #expect(
      CacheGroups.invalidated(
        request: HTTPRequest(method: .post, scheme: "https", authority: "a.b", path: "/"),
        response: try response("Cache-Group-Invalidation", value)) == names)
  }

  @Test(
    "What is no list of strings names no group",
    arguments: ["a", "\"a\", b", "(\"a\")", "\"a", "1", ",,", "\"a\" \"b\""])
  func malformed(value: String) throws {
    #expect(try CacheGroups.names(of: response("Cache-Groups", value)) == [])
  }

  // holds 9875-3-1
  @Test("§3 Invalidation is ignored for safe methods")
  func invalidated() throws {
    let answer = try response("Cache-Group-Invalidation", "\"a\", \"b\"")
    func groups(_ method: HTTPRequest.Method) -> [String] {
      CacheGroups.invalidated(
        request: HTTPRequest(method: method, scheme: "https", authority: "a.b", path: "/"),
        response: answer)
    }
    #expect(groups(.post) == ["a", "b"])
    #expect(groups(.delete) == ["a", "b"])
    #expect(groups(.get) == [])
    #expect(groups(.head) == [])
    #expect(groups(.options) == [])
    #expect(HTTPRequest.Method("PROPFIND").map(groups) == [])
  }
}
