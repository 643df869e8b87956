import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Pages and sitemaps may link to this machine and its network. Here all origins are on loopback: the one that the
/// user names is allowed, others only by their addresses.
@Suite("pack follows links to allowed addresses only", .timeLimit(.minutes(10)))
struct HarvestAddressTests {
  private static func answer(
    _ body: String, _ type: String = "text/html", status: String = "200 OK", _ field: String = ""
  )
    -> [UInt8]
  {
    Array(
      "HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Type: \(type)\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        .utf8)
  }

  /// Packs a page or a sitemap that leads to another origin, and returns the requests that the other one got.
  private func packed(
    _ option: String, _ document: @escaping @Sendable (String) -> [UInt8], _ options: [String] = []
  ) async throws -> (run: CommandRun, requests: [String]) {
    let other = try await ScriptedOrigin { _, _ in Self.answer("secret", "text/plain") }
    let authority = other.authority
    let named = try await ScriptedOrigin { request, _ in
      request.hasPrefix("GET /own") ? Self.answer("own", "text/plain") : document(authority)
    }
    let directory = try ScratchFolder()
    let run = await CommandRun(
      ["pack", directory.path("a.hca"), option, "http://\(named.authority)/page"] + options)
    #expect(named.texts.contains { $0.hasPrefix("GET /page") })
    return (run, other.texts)
  }

  @Test(
    "another origin of this machine is not asked, whatever leads to it",
    arguments: ["image", "host name", "redirect", "style", "sitemap", "index"])
  func refused(_ way: String) async throws {
    let option = ["sitemap", "index"].contains(way) ? "--from-sitemap" : "--from-page"
    let document = { @Sendable (other: String) -> [UInt8] in
      switch way {
      case "image": Self.answer("<img src=/own><img src=http://\(other)/purge>")
      case "host name":
        Self.answer("<img src=http://localhost\(other.dropFirst("127.0.0.1".count))/purge>")
      case "redirect": Self.answer("", status: "302 Found", "Location: http://\(other)/purge\r\n")
      case "style": Self.answer("<style>@import 'http://\(other)/a.css'</style>")
      case "sitemap": Self.answer("<urlset><url><loc>http://\(other)/</loc></url></urlset>", "text/xml")
      default:
        Self.answer("<sitemapindex><sitemap><loc>http://\(other)/</loc></sitemap></sitemapindex>", "text/xml")
      }
    }
    let (run, requests) = try await packed(option, document)
    #expect(requests.isEmpty, "\(requests)")
    #expect(run.errors.contains("is not a public address (--allow-address)"), "\(run.errors)")
    if way == "image" { #expect(run.status == 0 && run.output.contains("2 responses"), "\(run.output)") }
  }

  @Test(
    "--allow-address allows the addresses of its ranges", arguments: [("127.0.0.0/8", 1), ("10.0.0.0/8", 0)])
  func allowed(_ range: String, _ count: Int) async throws {
    let (run, requests) = try await packed(
      "--from-page", { Self.answer("<img src=http://\($0)/a>") }, ["--allow-address", range])
    #expect(requests.count == count, "\(run.errors)")
  }

  @Test("what a named page leads to does not become allowed because another argument names its origin")
  func roots() async throws {
    let other = try await ScriptedOrigin { _, _ in Self.answer("text", "text/plain") }
    let authority = other.authority
    let named = try await ScriptedOrigin { _, _ in Self.answer("<img src=http://\(authority)/linked>") }
    let directory = try ScratchFolder()
    let list = try directory.write("http://\(authority)/named\n".utf8, to: "list")
    _ = await CommandRun(
      "pack", directory.path("a.hca"), "--from-urls", list, "--from-page", "http://\(named.authority)/")
    #expect(other.texts.count == 1 && other.texts.first?.hasPrefix("GET /named ") == true)
  }

  @Test("a range that is none, and --allow-address without a page, are usage errors")
  func usage() async throws {
    #expect(
      await CommandRun("pack", "a", "--from-page", "http://a/", "--allow-address", "no").status
        == ExitStatus.usage.rawValue)
    #expect(
      await CommandRun("pack", "a", "--from", "b", "--allow-address", "10.0.0.0/8").status
        == ExitStatus.usage.rawValue)
  }
}
