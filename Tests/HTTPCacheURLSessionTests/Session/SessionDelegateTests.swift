import Foundation
import HTTPCacheURLSession
import HTTPCaching
import Synchronization
import Testing

/// The questions that delegates are asked, and the effects of their answers.
@Suite(.timeLimit(.minutes(10))) struct SessionDelegateTests {
  private static let fresh = [("Cache-Control", "max-age=60")]

  /// Gives prepared answers and records the questions.
  final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
    struct Answers: Sendable {
      var disposition = URLSession.ResponseDisposition.allow
      var redirect: @Sendable (URLRequest) -> URLRequest? = { $0 }
      var challenge: @Sendable (Int) -> (URLSession.AuthChallengeDisposition, URLCredential?) = { _ in
        (.performDefaultHandling, nil)
      }
    }

    let answers: Answers
    let seen = Seen<String>()

    init(_ answers: Answers = Answers()) { self.answers = answers }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      seen.add("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
      completionHandler(answers.disposition)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      seen.add("redirect \(response.statusCode) \(request.url?.path ?? "")")
      completionHandler(answers.redirect(request))
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      seen.add("challenge \(challenge.previousFailureCount)")
      let (disposition, credential) = answers.challenge(challenge.previousFailureCount)
      completionHandler(disposition, credential)
    }
  }

  /// Never answers.
  final class Silent: NSObject, URLSessionDataDelegate, Sendable {
    let asked = AsyncStream.makeStream(of: Void.self)

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { asked.continuation.yield() }
  }

  @Test func aDelegateThatDoesNotAnswerCannotHoldACancelledTask() async throws {
    let delegate = Silent()
    let test = try TestSession(delegate: delegate) { _ in .text("body", Self.fresh) }
    let task = Task { try await test.get("/") }
    for await _ in delegate.asked.stream { break }
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
  }

  // MARK: Redirects

  @Test func redirectsAreFollowedThroughTheCache() async throws {
    let delegate = Delegate()
    let test = try TestSession(delegate: delegate) { request in
      request.path == "/old"
        ? .redirect(to: "/new", status: 301, Self.fresh) : .text("new", Self.fresh)
    }
    for _ in 1...2 {
      let got = try await test.get("/old")
      #expect(got.text == "new" && got.response.url?.path == "/new")
      #expect(got.response.cacheRedirects.count == 1)
    }
    #expect(test.origin.requests.count == 2)
    let once = ["redirect 301 /new", "response 200"]
    #expect(delegate.seen.all == once + once)
  }

  @Test func aDelegateMayStopARedirectOrTurnItElsewhere() async throws {
    let test = try TestSession { request in
      request.path == "/old" ? .redirect(to: "/new") : .text(request.path)
    }
    var answers = Delegate.Answers()
    answers.redirect = { _ in nil }
    let (_, stopped) = try await test.session.data(
      for: test.request("/old"), delegate: Delegate(answers))
    #expect((stopped as? HTTPURLResponse)?.statusCode == 302)
    answers.redirect = { [url = test.origin.url("/third")] _ in URLRequest(url: url) }
    let (data, _) = try await test.session.data(
      for: test.request("/old"), delegate: Delegate(answers))
    #expect(String(decoding: data, as: UTF8.self) == "/third")
  }

  @Test func anEndlessRedirectIsAnError() async throws {
    let test = try TestSession { _ in .redirect(to: "/again") }
    #expect(await urlErrorCode { _ = try await test.get("/") } == .httpTooManyRedirects)
    #expect(test.origin.requests.count == 21)
  }

  @Test func contentIsSentAgainWhereTheRedirectSaysSo() async throws {
    let test = try TestSession { request in
      switch request.path {
      case "/307": .redirect(to: "/new", status: 307)
      case "/303": .redirect(to: "/new", status: 303)
      default: .text("\(request.method) \(request.bodyText)")
      }
    }
    let (again, _) = try await test.session.upload(
      for: test.request("/307", method: "POST"), from: Data("x".utf8))
    #expect(String(decoding: again, as: UTF8.self) == "POST x")
    let (other, _) = try await test.session.upload(
      for: test.request("/303", method: "POST"), from: Data("x".utf8))
    #expect(String(decoding: other, as: UTF8.self) == "GET ")
  }

  @Test func credentialsStayWithTheirOrigin() async throws {
    let other = try SocketOrigin { .text($0["Authorization"] ?? "none") }
    let test = try TestSession { [url = other.url("/")] _ in .redirect(to: url.absoluteString) }
    #expect(try await test.get("/", ["Authorization": "Basic eA=="]).text == "none")
  }

  // MARK: Responses

  @Test func aDelegateMayRefuseAResponse() async throws {
    var answers = Delegate.Answers()
    answers.disposition = .cancel
    let test = try TestSession { _ in .text("unwanted", Self.fresh) }
    for _ in 1...2 {
      let code = await urlErrorCode {
        _ = try await test.session.data(for: test.request("/"), delegate: Delegate(answers))
      }
      #expect(code == .cancelled)
    }
    #expect(try await test.get("/").text == "unwanted")
  }

  @Test func aTasksDelegateIsAskedInPlaceOfTheSessions() async throws {
    let (ofSession, ofTask) = (Delegate(), Delegate())
    let test = try TestSession(delegate: ofSession) { _ in .text("x") }
    _ = try await test.session.data(for: test.request("/"), delegate: ofTask)
    #expect(ofSession.seen.all.isEmpty)
    #expect(ofTask.seen.all == ["response 200"])
  }

  // MARK: Authentication

  private func protected(_ answers: Delegate.Answers) throws -> (TestSession, Delegate) {
    let delegate = Delegate(answers)
    let test = try TestSession(delegate: delegate) {
      .protected($0, credentials: "dTpw", .text("secret", Self.fresh))
    }
    return (test, delegate)
  }

  @Test func theRightCredentials() async throws {
    var answers = Delegate.Answers()
    answers.challenge = { _ in
      (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
    let (test, delegate) = try protected(answers)
    #expect(try await test.get("/").text == "secret")
    #expect(delegate.seen.all == ["challenge 0", "response 200"])
    #expect(try await test.get("/").isHit)
  }

  @Test func theWrongCredentialsThenNone() async throws {
    var answers = Delegate.Answers()
    answers.challenge = { failures in
      failures == 0
        ? (.useCredential, URLCredential(user: "u", password: "wrong", persistence: .none))
        : (.performDefaultHandling, nil)
    }
    let (test, delegate) = try protected(answers)
    let got = try await test.get("/")
    #expect(got.status == 401 && got.text == "who are you?")
    #expect(delegate.seen.all == ["challenge 0", "challenge 1", "response 401"])
  }

  @Test(arguments: [
    URLSession.AuthChallengeDisposition.performDefaultHandling, .rejectProtectionSpace,
  ])
  func noCredentials(_ disposition: URLSession.AuthChallengeDisposition) async throws {
    var answers = Delegate.Answers()
    answers.challenge = { _ in (disposition, nil) }
    let (test, _) = try protected(answers)
    #expect(try await test.get("/").status == 401)
  }

  @Test func aCancelledChallenge() async throws {
    var answers = Delegate.Answers()
    answers.challenge = { _ in (.cancelAuthenticationChallenge, nil) }
    let (test, _) = try protected(answers)
    #expect(await urlErrorCode { _ = try await test.get("/") } == .cancelled)
  }

  @Test(arguments: ["Bearer", "Digest realm=\"r\", nonce=\"n\"", "Negotiate"])
  func schemesThatFoundationDoesNotKnow(_ scheme: String) async throws {
    var answers = Delegate.Answers()
    answers.challenge = { _ in
      (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
    let test = try TestSession(delegate: Delegate(answers)) { _ in
      .text("no", [("WWW-Authenticate", scheme)], status: 401)
    }
    #expect(try await test.get("/").status == 401)
  }

  @Test func aSharedCacheKeepsNothingThatCredentialsOpened() async throws {
    var answers = Delegate.Answers()
    answers.challenge = { _ in
      (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
    var rules = CacheRules()
    rules.mode = .shared
    let test = try TestSession(rules: rules, delegate: Delegate(answers)) {
      .protected($0, credentials: "dTpw", .text("secret", Self.fresh))
    }
    #expect(try await test.get("/").text == "secret")
    #expect(try await !test.get("/").isHit)
  }
}
