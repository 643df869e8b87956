import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

@Suite(.timeLimit(.minutes(10))) struct RequestFeaturesTests {
  @Test("Each field that bears on reuse is found, in any letter case and place")
  func each() throws {
    let known: [(String, RequestFeatures)] = [
      ("Cache-Control", .directives), ("Pragma", .directives), ("Range", .range),
      ("If-Match", .originConditions), ("If-Unmodified-Since", .originConditions),
      ("If-None-Match", .conditions), ("If-Modified-Since", .conditions),
      ("Content-Length", .content), ("Transfer-Encoding", .content),
    ]
    for (name, feature) in known {
      for name in [name, name.lowercased(), name.uppercased()] {
        #expect(RequestFeatures(try fields([name: "x"])) == feature)
        #expect(RequestFeatures(try fields(["A": "b", name: "x", "Accept": "*/*"])) == feature)
      }
    }
    let all = try fields(["Range": "x", "If-None-Match": "y", "Pragma": "z", "If-Match": "w"])
    #expect(RequestFeatures(all) == [.range, .conditions, .directives, .originConditions])
  }

  @Test("RFC 9112 §6 Content-Length: 0 is no content")
  func noContent() throws {
    for value in ["0", " 0 ", "00"] {
      #expect(RequestFeatures(try fields(["Content-Length": value])).isEmpty)
    }
    for value in ["1", "", "x", "0, 5"] {
      #expect(RequestFeatures(try fields(["Content-Length": value])) == .content)
    }
  }

  @Test("A plain request has none, whatever fields are as long as these")
  func plain() throws {
    let request = try fields([
      "Accept": "*/*", "Origin": "null", "Abcde": "1", "If-Range": "2", "Accept-Charset": "3",
      "Authorization": "4", "X-Forwarded-Proto": "5", "Sec-Fetch-Mode-Is": "6",
    ])
    #expect(RequestFeatures(request).isEmpty)
  }
}
