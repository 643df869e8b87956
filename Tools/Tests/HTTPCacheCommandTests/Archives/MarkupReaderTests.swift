import Testing

@testable import HTTPCacheCommand

@Suite("Reading HTML and XML in bounded memory", .timeLimit(.minutes(10)))
struct MarkupReaderTests {
  private typealias Event = MarkupReader.Event

  /// The events of a document, read in pieces of each of these lengths; equal for all of them.
  private func events(
    _ text: String, _ language: MarkupReader.Language = .html, textOf: Set<String> = ["style", "loc"],
    longestText: Int = 1_000
  ) -> [Event] {
    let all = [Int.max, 1, 3].map { length in
      var (rest, found) = (Array(text.utf8)[...], [Event]())
      var reader = MarkupReader(language, textOf: textOf, longestText: longestText)
      while !rest.isEmpty {
        reader.read(rest.prefix(length)) { found.append($0) }
        rest = rest.dropFirst(length)
      }
      reader.finish { found.append($0) }
      return found
    }
    #expect(all.allSatisfy { $0 == all[0] }, "\(text)")
    return all[0]
  }

  @Test("attributes: quoted, unquoted, without a value, repeated, with references to characters")
  func attributes() {
    #expect(
      events("<A b='1' C=\"2\"d = 3 e f=a/b g='&amp;&#65;&#x42;&copy;&' b=no><br/>") == [
        .start("a", attributes: ["b": "1", "c": "2", "d": "3", "f": "a/b", "g": "&AB&copy;&"]),
        .start("br", attributes: [:]),
      ])
    #expect(events("<a b=>") == [.start("a", attributes: [:])])
    #expect(events("<a b=\"unended").isEmpty)
    #expect(events("a < b <> <1> </a b=c>").isEmpty)
  }

  @Test(
    "elements with text without tags end at their own end tag",
    arguments: ["</style>", "</STYLE >", "</style/>", "</style a=b>"])
  func raw(_ end: String) {
    #expect(
      events("<style>a<b></styl</style2>&amp;\(end)<i>") == [
        .start("style", attributes: [:]), .text(of: "style", "a<b></styl</style2>&amp;"),
        .start("i", attributes: [:]),
      ])
    #expect(
      events("<script>'<img src=a>'</script><i>") == [
        .start("script", attributes: [:]), .start("i", attributes: [:]),
      ])
    #expect(events("<style>a").last == .text(of: "style", "a"))
  }

  @Test(
    "HTML §13.2.6.5: within svg and math a slash closes an element, and its text does not go on",
    arguments: ["title", "style", "script"])
  func foreign(_ name: String) {
    let image = Event.start("img", attributes: [:])
    for outer in ["svg", "math"] {
      #expect(events("<\(outer)><g><\(name)/></g></\(outer)><img>").last == image)
      #expect(events("<\(outer)><\(name) a=b /></\(outer)><img>").last == image)
      // The slash belongs to the value.
      #expect(events("<\(outer)><\(name) a=b/><img>").last != image)
      #expect(events("<\(outer)><a></\(outer)><\(name)/><img>").last != image)
      #expect(events("<\(outer)/><\(name) src=x /><img>").last != image)
    }
  }

  @Test(
    "comments, declarations and instructions have no elements",
    arguments: [
      "<!-- <b> -->", "<!---->", "<!-->", "<!doctype html PUBLIC \"-//a//'\">", "<?php a ?>",
      "<!-- - -- ->-->",
    ])
  func skipped(_ markup: String) {
    #expect(events(markup + "<i>") == [.start("i", attributes: [:])])
  }

  @Test("XML: prefixes do not count, CDATA is text, an empty element has no text")
  func xml() {
    let text = """
      <?xml version="1.0"?><!-- <loc>no</loc> --><s:urlset xmlns:s='a>b'><s:loc> a&amp;<![CDATA[<b>&amp;]]]]>
      <x/>c</s:loc><loc/></s:urlset>
      """
    #expect(
      events(text, .xml) == [
        .start("urlset", attributes: ["xmlns:s": "a>b"]), .start("loc", attributes: [:]),
        .start("x", attributes: [:]), .text(of: "loc", " a&<b>&amp;]]\nc"), .start("loc", attributes: [:]),
        .text(of: "loc", ""),
      ])
  }

  @Test("a declared entity is not expanded, and a text that uses one is left out")
  func entities() {
    let text =
      "<!DOCTYPE u [<!ENTITY a \"]>b\"><!ENTITY % c SYSTEM 'file:///etc/passwd'>]><loc>a&a;</loc><loc>b</loc>"
    #expect(
      events(text, .xml) == [
        .start("loc", attributes: [:]), .start("loc", attributes: [:]), .text(of: "loc", "b"),
      ])
    var reader = MarkupReader(.xml, textOf: [], longestText: 1)
    reader.read(Array(text.utf8)) { _ in }
    #expect(reader.declaresEntities)
  }

  @Test("names, values, texts and the number of attributes have limits; what is too long is left out")
  func limits() throws {
    let many = (0..<100_000).map { "a\($0)=1" }.joined(separator: " ")
    let found = events("<b \(many)><\(String(repeating: "n", count: 10_000)) c=d><i>")
    #expect(found.count == 2 && found.last == .start("i", attributes: [:]))
    guard case .start("b", let attributes)? = found.first else {
      Issue.record("\(found.count)")
      return
    }
    #expect(attributes.count == MarkupReader.mostAttributes)
    let long = String(repeating: "v", count: MarkupReader.longestValue)
    #expect(
      events("<b c='\(long)' d='\(long)v' e=f>") == [.start("b", attributes: ["c": long, "e": "f"])])
    let text = String(repeating: "t", count: 1_000)
    #expect(
      events("<loc>\(text)</loc><loc>\(text)t</loc><loc>", .xml).filter { $0 == .text(of: "loc", text) }.count
        == 1)
    #expect(events(String(repeating: "<div>", count: 100_000) + "</div>").count == 100_000)
  }
}
