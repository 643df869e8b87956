import HTTPCaching
import Synchronization

/// Lets the tasks of a plain `URLSession` load through a cache.
///
/// ```swift
/// let configuration = URLSessionConfiguration.default.caching(with: cache)
/// let session = URLSession(configuration: configuration)
/// ```
///
/// The cache answers data tasks with delegates, completion handlers and `async` calls, and follows their
/// redirects. Foundation itself loads download tasks, upload tasks, and URLs other than HTTP. An upload that
/// changes a resource also invalidates its stored response. New code should use `CachedURLSession`, which can
/// do more.
///
/// Each configuration has its own class, by which Foundation's instances find their cache; requests are not
/// changed.
public class CachingURLProtocol: URLProtocol {
  private enum Load {
    case cached(ProtocolLoad)
    case passedOn(PassedOnLoad)
    case refused(URLError)
    case answered
  }

  private let load = Mutex<Load?>(nil)

  /// The number by which the class finds its cache; nil for the class without a cache.
  class var slot: Int? { nil }

  deinit {
    if case .cached(let load) = load.withLock({ $0 }) { load.cancel() }
  }

  /// Whether the cache of this class handles the request: it is HTTP, with a host.
  public override class func canInit(with request: URLRequest) -> Bool {
    CachedLoading.of(self) != nil && CachedLoading.accepts(request)
  }

  /// Whether the cache of this class handles the task: not if the task delivers a file.
  public override class func canInit(with task: URLSessionTask) -> Bool {
    guard !(task is URLSessionDownloadTask), let request = task.currentRequest else { return false }
    return canInit(with: request)
  }

  /// The unchanged request.
  public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Starts, or continues after the task was suspended.
  public override func startLoading() {
    let isFirst = load.withLock { $0 == nil }
    if isFirst, answerFromMemory() { return }
    let begun = load.withLock { load -> Load in
      let begun = load ?? makeLoad()
      load = begun
      return begun
    }
    switch begun {
    case .cached(let load): load.resume()
    case .passedOn(let load): load.start()
    case .refused(let error): client?.urlProtocol(self, didFailWithError: error)
    case .answered: break
    }
  }

  /// Pauses the load while the task is suspended, otherwise ends it.
  public override func stopLoading() {
    switch load.withLock({ $0 }) {
    case .cached(let load):
      if task?.state == .suspended { load.suspend() } else { load.cancel() }
    case .passedOn(let load): load.stop()
    case .answered, .refused, nil: break
    }
  }

  /// Answers a request at once, where Foundation expects the client's calls, if the whole response is in memory.
  private func answerFromMemory() -> Bool {
    guard Self.loads(task), let loading = CachedLoading.of(type(of: self)), let client else { return false }
    let settings = TaskSurroundings.session(of: task).map { LoadSettings($0.configuration) }
    guard
      let (response, body) = loading.session.answerFromMemory(
        (settings ?? loading.settings).applied(to: request)),
      body.count <= loading.bodyLimit
    else { return false }
    load.withLock { $0 = .answered }
    client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    if !body.isEmpty { client.urlProtocol(self, didLoad: Data(body)) }
    client.urlProtocolDidFinishLoading(self)
    return true
  }

  /// Whether the cache loads a task's request; Foundation loads files and uploads.
  private static func loads(_ task: URLSessionTask?) -> Bool {
    #if canImport(FoundationNetworking)
      !(task is URLSessionDownloadTask || task is URLSessionUploadTask)
    #else
      true
    #endif
  }

  private func makeLoad() -> Load {
    let surroundings = TaskSurroundings(task)
    if Self.loads(task), let loading = CachedLoading.of(type(of: self)) {
      let settings = surroundings.session.map { LoadSettings($0.configuration) }
      return .cached(
        ProtocolLoad(
          request, loading: loading, settings: settings ?? loading.settings,
          surroundings: surroundings, client: LoadClient(self, surroundings)))
    }
    if let cache = CachedLoading.of(type(of: self))?.session.cache,
      let error = (try? HTTPRequest(request)).flatMap({ cache.refusalWhileOffline(of: $0) })
    {
      return .refused(URLError.make(error, url: request.url))
    }
    guard let task, let load = PassedOnLoad(self, task, in: surroundings.session) else {
      return .refused(
        URLError.make(.unsupportedURL, "no protocol of the session takes the request", url: request.url))
    }
    return .passedOn(load)
  }
}
