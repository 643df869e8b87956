import Foundation
import HTTPCacheStore
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Sitemaps, pages and style sheets that stand for much more than they have", .timeLimit(.minutes(10)))
struct HostileDocumentTests {
  private func sitemap(_ text: String) throws -> Sitemap { try Sitemap(BodyBytes(Array(text.utf8))) }

  private func message(_ text: String) -> String {
    do {
      _ = try sitemap(text)
      return ""
    } catch { return "\(error)" }
  }

  @Test("a sitemap that uses its own entities is refused with the reason, however often it uses them")
  func entities() {
    let uses = String(repeating: "&a;", count: 20_000)
    for value in [
      "\"\(String(repeating: "a", count: 100_000))\"", "SYSTEM \"file:///dev/zero\"", "\"&b;&b;\"",
    ] {
      let text = """
        <?xml version="1.0"?><!DOCTYPE u [<!ENTITY b "c"><!ENTITY a \(value)>]>
        <urlset><url><loc>http://a.example/?\(uses)</loc></url></urlset>
        """
      #expect(message(text) == "no URL in the sitemap; the entities that it declares are not expanded")
    }
  }

  @Test("a default attribute that a sitemap declares is not copied to each element")
  func defaults() throws {
    let text = """
      <!DOCTYPE u [<!ATTLIST url a CDATA "\(String(repeating: "a", count: 1_000))">]>
      <urlset><url><loc>https://a.example/</loc></url></urlset>
      """
    #expect(try sitemap(text).pages.urls == ["https://a.example/"])
  }

  @Test("a sitemap has a limited number of URLs, in XML and as text", arguments: ["<loc>", ""])
  func count(_ tag: String) throws {
    let lines = (0...DocumentURLs.most).map { "\(tag)https://a.example/\($0)\(tag.isEmpty ? "" : "</loc>")" }
    let found = try sitemap(lines.joined(separator: "\n")).pages
    #expect(found.urls.count == DocumentURLs.most && found.isCut)
    #expect(try !sitemap(lines.dropLast().joined(separator: "\n")).pages.isCut)
  }

  @Test("of lines that are no URLs the first 100 are told, and the number of the rest")
  func others() throws {
    let lines = ["https://a.example/"] + (0..<150).map { "line \($0)" }
    let notes = URLList(lines.joined(separator: "\n")).others.notes
    #expect(notes.count == 101 && notes.last == "50 more lines that are no http or https URLs")
    #expect(try sitemap(lines.joined(separator: "\n")).others.notes == notes)
  }

  @Test("the URLs of a document are together of a limited length")
  func length() throws {
    let path = String(repeating: "a", count: 60_000)
    let lines = (0..<200).map { "https://a.example/\(path)\($0)" }
    let found = try sitemap(lines.joined(separator: "\n")).pages
    #expect(found.isCut && found.urls.map(\.utf8.count).reduce(0, +) <= DocumentURLs.mostBytes)
    #expect(
      message("<loc>https://a.example/\(String(repeating: "a", count: 70_000))</loc>")
        == "no URL in the sitemap")
    #expect(message("https://a.example/\(String(repeating: "a", count: 70_000))") == "no URL in the sitemap")
  }

  @Test("a long base does not make much of the short references of a page or style sheet")
  func base() {
    let base = "https://a.example/" + String(repeating: "b", count: 8_000) + "/"
    let images = (0..<10_000).map { "<img src=\($0)>" }.joined()
    let found = PageReferences.find(
      in: Array("<base href='\(base)'>\(images)".utf8), of: "https://a.example/", encoding: nil)
    #expect(found.isCut && found.urls.map(\.utf8.count).reduce(0, +) <= DocumentURLs.mostBytes)
    #expect(found.urls.first == base + "0")
    let style = (0..<10_000).map { "url(\($0))" }.joined(separator: " ")
    #expect(PageReferences.absolute(CSSReferences.find(in: style), base).isCut)
    #expect(
      CSSReferences.find(in: String(repeating: "url(a)", count: DocumentURLs.most + 9)).count
        == DocumentURLs.most)
  }

  @Test("a compressed sitemap is unpacked up to the limit of sitemaps.org")
  func compressed() async throws {
    // A member of gzip with 4 KiB of spaces, again and again.
    let directory = try ScratchFolder()
    let file = try directory.write([UInt8](repeating: 0x20, count: 4 << 20), to: "spaces")
    let gzip = try await TestProcess(["/usr/bin/env", "gzip", file])
    #expect(await gzip.end() == 0)
    let member = try #require(directory.file("spaces.gz").bytes)
    let bytes = Array(repeatElement(member, count: 13).joined())
    let error = #expect(throws: Sitemap.Failure.self) { try Sitemap(BodyBytes(bytes)) }
    #expect(error?.description == "a sitemap of more than 50 MiB")
  }
}
