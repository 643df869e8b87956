import HTTPCaching
import Synchronization

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

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
    let begun = load.withLock { load -> Load? in
      if load == nil { load = makeLoad() }
      return load
    }
    switch begun {
    case .cached(let load): load.resume()
    case .passedOn(let load): load.start()
    case .refused(let error): client?.urlProtocol(self, didFailWithError: error)
    case nil:
      let error = URLError.make(
        .unsupportedURL, "no protocol of the session takes the request", url: request.url)
      client?.urlProtocol(self, didFailWithError: error)
    }
  }

  /// Pauses the load while the task is suspended, otherwise ends it.
  public override func stopLoading() {
    switch load.withLock({ $0 }) {
    case .cached(let load):
      if task?.state == .suspended { load.suspend() } else { load.cancel() }
    case .passedOn(let load): load.stop()
    case .refused, nil: break
    }
  }

  private func makeLoad() -> Load? {
    let surroundings = TaskSurroundings(task)
    #if canImport(FoundationNetworking)
      let isFile = task is URLSessionDownloadTask || task is URLSessionUploadTask
    #else
      let isFile = false
    #endif
    if !isFile, let loading = CachedLoading.of(type(of: self)) {
      let settings = surroundings.session.map { LoadSettings($0.configuration) }
      return .cached(
        ProtocolLoad(
          request, loading: loading, settings: settings ?? loading.settings,
          surroundings: surroundings, client: LoadClient(self, surroundings)))
    }
    guard let task else { return nil }
    if let cache = CachedLoading.of(type(of: self))?.session.cache,
      let error = (try? HTTPRequest(request)).flatMap({ cache.refusalWhileOffline(of: $0) })
    {
      return .refused(URLError.make(error, url: request.url))
    }
    return PassedOnLoad(self, task, in: surroundings.session).map { .passedOn($0) }
  }
}
