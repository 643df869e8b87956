import Foundation
import HTTPCacheURLSession
import HTTPCaching
import Synchronization
import Testing

/// A plain session over Foundation's own loading, with a real origin.
@Suite(.timeLimit(.minutes(10))) struct ProtocolOverFoundationTests {
  private static let fresh = [("Cache-Control", "max-age=60")]

  private let cache: HTTPCache

  init() throws { cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 8 << 20)) }

  private func configuration() throws -> URLSessionConfiguration {
    URLSessionConfiguration.ephemeral.caching(with: cache)
  }

  private func session(_ delegate: (any URLSessionDelegate)? = nil) throws -> URLSession {
    URLSession(configuration: try configuration(), delegate: delegate, delegateQueue: nil)
  }

  @Test func originSeesWhatItWouldSeeWithout() async throws {
    let origin = try SocketOrigin { _ in .text("one") }
    let plain = URLSession(configuration: .ephemeral)
    let cached = try session()
    for session in [plain, cached] {
      _ = try await session.get(URLRequest(url: origin.url("/a?b")))
      session.finishTasksAndInvalidate()
    }
    let heads = origin.requests.map { request in
      request.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
    }
    #expect(heads.count == 2)
    #expect(heads.first == heads.last)
  }

  @Test func cookiesAreKeptAndSent() async throws {
    let origin = try SocketOrigin { .text($0["Cookie"] ?? "none", [("Set-Cookie", "a=1; Path=/")]) }
    let session = try session()
    defer { session.finishTasksAndInvalidate() }
    #expect(try await session.get(URLRequest(url: origin.url("/1"))).text == "none")
    #expect(try await session.get(URLRequest(url: origin.url("/2"))).text == "a=1")
  }

  @Test func delegateGivesCredentials() async throws {
    let base64 = Data("me:secret".utf8).base64EncodedString()
    let origin = try SocketOrigin {
      .protected($0, credentials: base64, .text("welcome", Self.fresh))
    }
    let delegate = AskedDelegate(
      credential: URLCredential(user: "me", password: "secret", persistence: .none))
    let session = try session(delegate)
    defer { session.finishTasksAndInvalidate() }
    #expect(try await session.get(URLRequest(url: origin.url("/"))).text == "welcome")
    #expect(delegate.sessions.allSatisfy { $0 === session })
    #expect(!delegate.sessions.isEmpty)
  }

  @Test func withoutCredentialsTheResponseIs401() async throws {
    let origin = try SocketOrigin { .protected($0, credentials: "x", .text("welcome")) }
    for delegate in [nil, AskedDelegate(credential: nil)] {
      let session = try session(delegate)
      defer { session.finishTasksAndInvalidate() }
      let answer = try await session.get(URLRequest(url: origin.url("/")))
      #expect(answer.response.statusCode == 401)
      #expect(answer.text == "who are you?")
    }
  }

  @Test func delegateIsAskedAboutRedirects() async throws {
    let origin = try SocketOrigin {
      $0.path == "/a" ? .redirect(to: "/b") : .text("there", Self.fresh)
    }
    for follows in [true, false] {
      let delegate = AskedDelegate(credential: nil, follows: follows)
      let session = try session(delegate)
      defer { session.finishTasksAndInvalidate() }
      let answer = try await session.get(URLRequest(url: origin.url("/a")))
      #expect(answer.response.statusCode == (follows ? 200 : 302))
      #expect(answer.response.url == origin.url(follows ? "/b" : "/a"))
      #expect(delegate.sessions.count == 1)
      #expect(delegate.sessions.first === session)
    }
  }

  @Test func codedContentIsDecodedOnce() async throws {
    let origin = try SocketOrigin { _ in .gzip("unzipped", Self.fresh) }
    let session = try session()
    defer { session.finishTasksAndInvalidate() }
    for _ in 0..<2 {
      #expect(try await session.get(URLRequest(url: origin.url("/"))).text == "unzipped")
    }
    #expect(origin.requests.count == 1)
  }

  @Test func cutBodiesAreErrors() async throws {
    let origin = try SocketOrigin { _ in
      OriginAnswer(steps: [.bytes([1, 2, 3]), .cut], framing: .length(10))
    }
    let session = try session()
    defer { session.finishTasksAndInvalidate() }
    await #expect(throws: URLError.self) {
      try await session.get(URLRequest(url: origin.url("/")))
    }
  }
}

/// A delegate that is asked about challenges and redirects, and records the session.
private final class AskedDelegate: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
  // @unchecked Sendable because mutable state is behind a lock, and the credential is constant.
  private let credential: URLCredential?
  private let follows: Bool
  private let asking = Mutex<[URLSession]>([])

  init(credential: URLCredential?, follows: Bool = true) {
    self.credential = credential
    self.follows = follows
  }

  var sessions: [URLSession] { asking.withLock { $0 } }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    asking.withLock { $0.append(session) }
    completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    asking.withLock { $0.append(session) }
    completionHandler(follows ? request : nil)
  }
}
