import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

/// Requests that Foundation loads itself in a session that has a cache.
@Suite(.timeLimit(.minutes(10))) struct ProtocolPassedOnTests {
  private static let fresh = [("Cache-Control", "max-age=60")]

  @Test func downloadTasksAreLoadedByFoundation() async throws {
    let origin = try SocketOrigin { .text("number \($0.number)", Self.fresh) }
    let test = TestCache([])
    let session = test.session(delegate: DelegateLog())
    defer { session.finishTasksAndInvalidate() }
    for number in 1...2 {
      let (file, response) = try await session.download(from: origin.url("/"))
      #expect(try String(contentsOf: file, encoding: .utf8) == "number \(number)")
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      #expect(response.cacheOutcome == nil)
      try? FileManager.default.removeItem(at: file)
    }
    let text = Received<String?>()
    session.downloadTask(with: origin.url("/")) { file, _, _ in
      text.take(file.flatMap { try? String(contentsOf: $0, encoding: .utf8) })
    }.resume()
    #expect(await text.value == "number 3")
    #expect(test.origin.requestCount == 0)
  }

  @Test func downloadDelegatesGetTheirFile() async throws {
    let origin = try SocketOrigin { _ in .text("body") }
    let log = DownloadLog()
    let test = TestCache([])
    let session = test.session(delegate: log)
    defer { session.finishTasksAndInvalidate() }
    session.downloadTask(with: origin.url("/")).resume()
    #expect(await log.text() == "body")
    #expect(test.origin.requestCount == 0)
  }

  @Test func uploadsDoNotReachTheOriginOfAnOfflineCache() async throws {
    let origin = try SocketOrigin { _ in .text("reached") }
    let test = TestCache([])
    test.cache.isOffline = true
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    var request = URLRequest(url: origin.url("/"))
    request.httpMethod = "PUT"
    await #expect {
      try await session.upload(for: request, from: Data("new".utf8))
    } throws: {
      ($0 as? URLError)?.code == .notConnectedToInternet
    }
    #expect(origin.requests.isEmpty)
  }

  @Test func uploadsReachTheOriginAndInvalidate() async throws {
    let origin = try SocketOrigin { .text("\($0.method) \($0.bodyText)") }
    let target = origin.url("/thing")
    let test = TestCache(
      ScriptedUpstream { _ in ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "old") })
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    _ = try await session.get(URLRequest(url: target))
    #expect(try await session.get(URLRequest(url: target)).outcome.isHit)
    var request = URLRequest(url: target)
    request.httpMethod = "PUT"
    let (data, response) = try await session.upload(for: request, from: Data("new".utf8))
    #expect(String(decoding: data, as: UTF8.self) == "PUT new")
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(!(try await session.get(URLRequest(url: target)).outcome.isHit))
  }

  @Test func whatIsNoHTTPIsLoadedByFoundation() async throws {
    let test = TestCache([])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    let url = try #require(URL(string: "data:text/plain,hello"))
    #expect(!CachedLoading.accepts(URLRequest(url: url)))
    let (data, response) = try await session.data(from: url)
    #expect(String(decoding: data, as: UTF8.self) == "hello")
    #expect(response.cacheOutcome == nil)
    #expect(test.origin.requestCount == 0)
  }

  @Test(arguments: [
    "file:///etc/hosts", "ftp://a.test/", "http:///nowhere", "ws://a.test/", "about:blank",
  ])
  func otherURLsAreDeclined(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(!CachedLoading.accepts(URLRequest(url: url)))
  }

  @Test func requestsThatNameAnotherHostAreLoadedByFoundation() async throws {
    let origin = try SocketOrigin { .text($0["Host"] ?? "", Self.fresh) }
    let test = TestCache([])
    let session = test.session()
    defer { session.finishTasksAndInvalidate() }
    var request = URLRequest(url: origin.url("/"))
    request.setValue("other.test", forHTTPHeaderField: "Host")
    #expect(try await session.get(request).text == "other.test")
    #expect(test.origin.requestCount == 0)
  }

  @Test func afterTheEndOfCachingFoundationLoads() async throws {
    let origin = try SocketOrigin { .text("number \($0.number)", Self.fresh) }
    let test = TestCache([ScriptedResponse(body: "cached")])
    let configuration = test.configuration()
    let session = URLSession(configuration: configuration)
    defer { session.finishTasksAndInvalidate() }
    #expect(try await session.get(URLRequest(url: origin.url("/"))).text == "cached")
    configuration.endCaching()
    #expect(try await session.get(URLRequest(url: origin.url("/"))).text == "number 1")
    #expect(try await session.get(URLRequest(url: origin.url("/"))).text == "number 2")
    #expect(configuration.protocolClasses?.contains { $0 is CachingURLProtocol.Type } == false)
  }
}

/// A delegate of download tasks.
private final class DownloadLog: NSObject, URLSessionDownloadDelegate {
  private let (texts, found) = AsyncStream<String?>.makeStream()

  func text() async -> String? {
    for await text in texts { return text }
    return nil
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    found.yield(try? String(contentsOf: location, encoding: .utf8))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) { found.finish() }
}
