import Foundation
import HTTPCacheURLSession
import HTTPCaching
import Hummingbird
import NIOCore
import ServerTesting
import Synchronization
import Testing

/// Features of a session besides plain HTTP requests, over NIO's transport.
@Suite(.timeLimit(.minutes(5))) struct SessionOverNIOTests {
  /// Answers challenges and records what it is told.
  final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
    let seen = Mutex<[String]>([])
    let credential: URLCredential?

    init(_ credential: URLCredential? = nil) { self.credential = credential }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      seen.withLock { $0.append("challenge \(challenge.protectionSpace.realm ?? "")") }
      let isFirst = challenge.previousFailureCount == 0
      completionHandler(isFirst ? .useCredential : .cancelAuthenticationChallenge, credential)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
      totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
      seen.withLock { $0.append("sent \(totalBytesSent) of \(totalBytesExpectedToSend)") }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      seen.withLock { $0.append("redirect \(response.statusCode)") }
      completionHandler(request)
    }
  }

  @Test("redirects are followed through the cache, and the delegate is asked")
  func redirects() async throws {
    let calls = Counter()
    let routes = Routes()
    routes.get("old") { _, _ in
      calls.increment()
      return Response(status: .movedPermanently, headers: [.location: "/new", .cacheControl: "max-age=60"])
    }
    routes.get("new") { _, _ in answer("new", [.cacheControl: "max-age=60"]) }
    let delegate = Delegate()
    try await TestServer.run(routes.buildResponder()) { server async throws in
      try await SessionOverNIO.run(delegate: delegate) { nio in
        for _ in 0..<2 {
          let (text, response) = try await nio.get(server.base + "/old")
          #expect(text == "new")
          #expect(response.url?.path == "/new")
        }
      }
    }
    #expect(calls.value == 1)
    #expect(delegate.seen.withLock { $0 } == ["redirect 301", "redirect 301"])
  }

  @Test("cookies that a response sets are sent with the next request")
  func cookies() async throws {
    let routes = Routes()
    routes.get("set") { _, _ in
      var fields: HTTPFields = [.cacheControl: "no-store"]
      fields.append(HTTPField(name: .setCookie, value: "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT"))
      fields.append(HTTPField(name: .setCookie, value: "b=2"))
      return answer("", fields)
    }
    routes.get("get") { request, _ in
      answer(request.headers[.cookie] ?? "none", [.cacheControl: "no-store"])
    }
    try await TestServer.run(routes.buildResponder()) { server async throws in
      try await SessionOverNIO.run { nio in
        #expect(try await nio.get(server.base + "/get").text == "none")
        _ = try await nio.get(server.base + "/set")
        let sent = try await nio.get(server.base + "/get").text
        #expect(Set(sent.components(separatedBy: "; ")) == ["a=1", "b=2"])
        var request = try nio.request(server.base + "/get")
        request.httpShouldHandleCookies = false
        let (data, _) = try await nio.session.data(for: request)
        #expect(data == Data("none".utf8))
      }
    }
  }

  private static func guarded() -> Routes {
    let routes = Routes()
    routes.on("secret", method: .get) { request, _ in try await Self.guarded(request) }
    routes.on("secret", method: .post) { request, _ in try await Self.guarded(request) }
    return routes
  }

  private static func guarded(_ request: Request) async throws -> Response {
    let body = try await request.body.collect(upTo: 1000)
    guard request.headers[.authorization] == "Basic " + Data("me:pass".utf8).base64EncodedString() else {
      return Response(
        status: .unauthorized,
        headers: [.wwwAuthenticate: #"Digest nonce="1", Basic realm="the \"realm\"""#])
    }
    return answer("in " + String(buffer: body), [.cacheControl: "max-age=60"])
  }

  @Test("a delegate's credentials answer a challenge, and content is sent again", arguments: ["GET", "POST"])
  func credentials(method: String) async throws {
    let delegate = Delegate(URLCredential(user: "me", password: "pass", persistence: .none))
    try await TestServer.run(Self.guarded().buildResponder()) { server async throws in
      try await SessionOverNIO.run(delegate: delegate) { nio in
        var request = try nio.request(server.base + "/secret")
        request.httpMethod = method
        if method == "POST" { request.httpBody = Data("hello".utf8) }
        let (data, _) = try await nio.session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == (method == "POST" ? "in hello" : "in "))
      }
    }
    let seen = delegate.seen.withLock { $0 }
    #expect(seen.filter { $0.hasPrefix("challenge") } == ["challenge the \"realm\""])
    #expect(seen.contains("sent 5 of 5") == (method == "POST"))
  }

  @Test("a delegate that cancels after wrong credentials cancels the request")
  func wrongCredentials() async throws {
    let delegate = Delegate(URLCredential(user: "me", password: "wrong", persistence: .none))
    try await TestServer.run(Self.guarded().buildResponder()) { server async throws in
      try await SessionOverNIO.run(delegate: delegate) { nio in
        let code = await urlErrorCode { _ = try await nio.get(server.base + "/secret") }
        #expect(code == .cancelled)
      }
    }
    #expect(delegate.seen.withLock { $0.count } == 2)
  }

  @Test("a shared cache does not store what credentials opened")
  func sharedCredentials() async throws {
    let delegate = Delegate(URLCredential(user: "me", password: "pass", persistence: .none))
    try await TestServer.run(Self.guarded().buildResponder()) { server async throws in
      try await SessionOverNIO.run(delegate: delegate, rules: CacheRules(mode: .shared)) { nio in
        for _ in 0..<2 {
          let (_, response) = try await nio.get(server.base + "/secret")
          #expect(response.cacheOutcome?.isHit == false)
        }
      }
    }
  }

  @Test("content codings are asked for and removed")
  func codings() async throws {
    let gzip: [UInt8] = [
      31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 200, 64, 39, 1, 227, 81, 61, 141, 23,
      0, 0, 0,
    ]
    let routes = Routes()
    routes.get("a") { request, _ in
      guard request.headers[.acceptEncoding]?.contains("gzip") == true else { return answer("plain", [:]) }
      return Response(
        status: .ok, headers: [.contentEncoding: "gzip", .cacheControl: "max-age=60"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: gzip)))
    }
    try await TestServer.run(routes.buildResponder()) { server async throws in
      try await SessionOverNIO.run { nio in
        for isHit in [false, true] {
          let (text, response) = try await nio.get(server.base + "/a")
          #expect(text == "hello hello hello hello")
          #expect(response.cacheOutcome?.isHit == isHit)
        }
      }
    }
  }

  @Test("a download reports its progress")
  func download() async throws {
    let routes = Routes()
    routes.get("large") { _, _ in
      Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 7, count: 3_000_000)))
    }
    let directory = try ScratchFolder()
    let last = Mutex<DownloadProgress?>(nil)
    try await TestServer.run(routes.buildResponder()) { server async throws in
      try await SessionOverNIO.run { nio in
        let request = try nio.request(server.base + "/large")
        let response = try await nio.session.download(for: request, to: directory.url("file")) { progress in
          last.withLock { $0 = progress }
        }
        #expect(response.cacheOutcome?.isHit == false)
      }
    }
    #expect(directory.file("file").bytes?.count == 3_000_000)
    #expect(last.withLock { $0?.fraction } == 1)
  }

  @Test(
    "cancelling the task, or the session, ends a request before and in its body",
    arguments: [true, false])
  func cancelling(hasHead: Bool) async throws {
    let origin = try await ScriptedOrigin { _ in
      hasHead ? .init(bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".utf8, isHeld: true) : nil
    }
    for isSession in [true, false] {
      try await SessionOverNIO.run { nio in
        let task = Task { await urlErrorCode { _ = try await nio.get(origin.base + "/a") } }
        await origin.arrived()
        if isSession { nio.session.invalidateAndCancel() } else { task.cancel() }
        #expect(await task.value == .cancelled)
      }
    }
  }
}
