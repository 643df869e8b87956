import Foundation
import HTTPCacheStore
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Fetching what a site needs", .timeLimit(.minutes(10))) struct HarvestTests {
  @Test(
    "references of a style sheet",
    arguments: [
      ("a { background: url(a.png) }", ["a.png"]),
      ("a { background: url( \"a b.png\" ), url('c.png') ; }", ["a b.png", "c.png"]),
      ("@import \"a.css\"; @import url(b.css) print; @import'c.css'", ["a.css", "b.css", "c.css"]),
      ("/* url(no.png) */ a { content: \"url(no.png)\"; b: URL(yes.png)}", ["yes.png"]),
      ("a { b: url(a\\)b.png); c: u\\72 l(d.png) }", ["a)b.png", "d.png"]),
      ("@charset \"utf-8\"; a { content: \"\\\"\"; b: url(x.png", ["x.png"]),
      ("a { content: \"not ended\n; b: url(y.png) }", ["y.png"]),
      ("", []), ("url", []), ("url(", []), ("\\", []), ("@import", []), ("/*", []), ("url()", []),
    ])
  func style(_ text: String, _ references: [String]) { #expect(CSSReferences.find(in: text) == references) }

  @Test(
    "URLs of a srcset",
    arguments: [
      ("a.png", ["a.png"]), ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
      (" a.png,b.png 100w ,", ["a.png,b.png"]),
      ("a.png, b,c.png 2x", ["a.png", "b,c.png"]), ("", []), (",,", []),
    ])
  func sourceSet(_ text: String, _ urls: [String]) { #expect(PageReferences.candidates(of: text) == urls) }

  @Test("a page needs style sheets, scripts, pictures, media and frames, but not what it links to")
  func page() {
    let html = """
      <!doctype html><base href="/sub/"><link rel="stylesheet" href="s.css"><link rel=alternate href=feed>
      <link rel="Shortcut ICON" href=i.ico><script src=//cdn.example/x.js></script><a href=other.html>no</a>
      <img src=p.png srcset="p2.png 2x"><video poster=v.png><source src=v.mp4></video><iframe src="f.html">
      <p style="background:url(b.png)"><style>@import "t.css";</style><img src="data:,x"><img src="p.png"><img src="a b.png">
      <form action=post><input type=image src=in.png><svg><use xlink:href="icons.svg#a"></svg><img src="
      """
    let found = PageReferences.find(in: Array(html.utf8), of: "https://example.com/page", encoding: nil)
      .urls
    let names = [
      "s.css", "i.ico", "p.png", "p2.png", "v.png", "v.mp4", "f.html", "b.png", "t.css", "a%20b.png",
      "in.png", "icons.svg",
    ]
    #expect(Set(found) == Set(names.map { "https://example.com/sub/" + $0 } + ["https://cdn.example/x.js"]))
    #expect(PageReferences.find(in: [], of: "https://example.com/", encoding: nil).urls.isEmpty)
    let deep = String(repeating: "<div>", count: 100_000) + "<img src=a.png>"
    _ = PageReferences.find(in: Array(deep.utf8), of: "https://example.com/", encoding: "no such charset")
  }

  @Test("a sitemap in XML, of sitemaps, as text, and compressed")
  func sitemap() throws {
    let xml = """
      <?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>
      <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://example.com/a?b&amp;c </loc></url>
      <url><loc>&x;</loc></url><url><loc>ftp://example.com/</loc></url></urlset>
      """
    #expect(try Sitemap(BodyBytes(Array(xml.utf8))).pages.urls == ["https://example.com/a?b&c"])
    let index = "<sitemapindex><sitemap><loc>https://example.com/s.xml</loc></sitemap></sitemapindex>"
    #expect(try Sitemap(BodyBytes(Array(index.utf8))).sitemaps.urls == ["https://example.com/s.xml"])
    for mark in ["", "\u{FEFF}"] {
      let list = mark + "https://example.com/\n# more\n\nnot a url\nhttps://example.com/b \n"
      let map = try Sitemap(BodyBytes(Array(list.utf8)))
      #expect(map.pages.urls == ["https://example.com/", "https://example.com/b"])
      #expect(map.others.notes == ["not an http or https URL: not a url"])
    }
    for text in ["", "<html>", "<urlset>", "nothing"] {
      #expect(throws: (any Error).self) { try Sitemap(BodyBytes(Array(text.utf8))) }
    }
    #expect(throws: (any Error).self) { try Sitemap(BodyBytes([0x1F, 0x8B, 1, 2, 3])) }
  }

  // MARK: The command

  private func answer(_ request: String, base: String) -> [UInt8] {
    let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    let pages: [String: (String, String)] = [
      "/": ("text/html", "<link rel=stylesheet href=/s.css><img src=/p.png><img src=/gone.png><a href=/no>"),
      "/two": ("text/html; charset=utf-8", "<img src=/p.png><script src=/moved.js></script>"),
      "/s.css": ("text/css", "@import 't.css'; a { background: url(/b.png) }"),
      "/t.css": ("text/css", "@import 's.css'"), "/p.png": ("image/png", "p"), "/b.png": ("image/png", "b"),
      "/new.js": ("text/javascript", "1"),
      "/sitemap.xml": (
        "application/xml", "<urlset><url><loc>\(base)/</loc></url><url><loc>\(base)/two</loc></url></urlset>"
      ),
    ]
    if path == "/moved.js" {
      return Array(
        "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /new.js\r\nContent-Length: 0\r\n\r\n".utf8)
    }
    guard let (type, body) = pages[path] else {
      return Array("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
    }
    return Array(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        .utf8)
  }

  private func packed(_ arguments: [String]) async throws -> (run: CommandRun, paths: Set<String>) {
    let directory = try ScratchFolder()
    let archive = directory.path("content.hca")
    let run = await CommandRun(["pack", archive] + arguments)
    let list = await CommandRun(["ls", "--seed", archive, "--json"])
    let paths = list.output.split(separator: "\n").compactMap { line -> String? in
      let entry = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return (entry?["url"] as? String).flatMap { URL(string: $0)?.path }
    }
    return (run, Set(paths))
  }

  @Test("a page, a sitemap and a list of URLs are packed with what they need")
  func pack() async throws {
    let origin = try await ScriptedOrigin { [self] request, _ in
      let host = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }
      return answer(request, base: "http://" + (host?.dropFirst(6) ?? ""))
    }
    let base = "http://\(origin.authority)"
    let page = try await packed(["--from-page", base + "/"])
    #expect(page.paths == ["/", "/s.css", "/t.css", "/p.png", "/b.png"], "\(page.run.errors)")
    #expect(page.run.errors.contains("\(base)/gone.png: 404") && page.run.status == 0)
    let site = try await packed(["--from-sitemap", base + "/sitemap.xml"])
    #expect(site.paths == ["/", "/two", "/s.css", "/t.css", "/p.png", "/b.png", "/moved.js", "/new.js"])
    let directory = try ScratchFolder()
    let urls = try directory.write("\u{FEFF}\(base)/s.css\n/t.css\n\(base)/p.png\n".utf8, to: "urls")
    let list = try await packed(["--from-urls", urls, "--limit", "3"])
    #expect(list.paths.isSuperset(of: ["/s.css", "/p.png"]) && list.paths.count == 3)
    #expect(list.run.errors.contains("more than 3 URLs"))
    #expect(list.run.errors.contains("\(urls): not an http or https URL: /t.css"))
    let small = try await packed(["--from-page", base + "/", "--max-size", "80"])
    #expect(small.run.errors.contains("the 80 bytes of --max-size are used up: the rest was not fetched"))
    #expect(small.paths == ["/"])
    let none = try await packed(["--from-page", base + "/none"])
    #expect(none.run.status == ExitStatus.failure.rawValue)
    #expect(await CommandRun(["pack", "a", "--from-page", "no url"]).status == ExitStatus.usage.rawValue)
  }
}
