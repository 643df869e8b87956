import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes

extension HTTPURLCache {
  func store(_ cached: CachedURLResponse, for request: URLRequest) {
    guard cached.storagePolicy != .notAllowed, !request.hasContent,
      let request = try? HTTPRequest(request),
      request.method == .get,
      let response = (cached.response as? HTTPURLResponse).flatMap({ HTTPResponse($0) })
    else { return }
    let isMemoryOnly = cached.storagePolicy == .allowedInMemoryOnly
    if isMemoryOnly, memoryCapacity == 0 { return }
    let userInfo = self.userInfo(cached.userInfo ?? [:])
    let body = BodyBytes(cached.data)
    let adopted = AdoptedResponse(
      response, body: body, isDecoded: Self.isDecoded(response, body), userInfo: userInfo,
      isMemoryOnly: isMemoryOnly)
    CallingThreadExecutor.wait { [cache, partition] in
      // A hook may need one of the threads that are blocked here.
      let turn = HookTurn(executor: SeparateThreads.shared) { limit in
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
          DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) {
            continuation.resume()
          }
        }
      }
      _ = await cache.adopt(adopted, to: request, partition: partition, asking: turn)
    }
  }

  /// The response that Foundation on Linux may use for a request: allowed by its policy, and fresh, because
  /// Foundation removes responses that it considers stale or cannot select.
  func usable(for request: URLRequest) -> CachedURLResponse? {
    switch request.cachePolicy {
    case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
      .reloadRevalidatingCacheData:
      return nil
    default: break
    }
    guard let head = try? HTTPRequest(request) else { return nil }
    let (rules, now) = (cache.configuration.rules, cache.configuration.clock.now)
    return stored(for: request) { stored in
      guard stored.nominated.isEmpty,
        case .fresh = Reuse.decide(
          stored: stored, request: head, directives: RequestDirectives(head.headerFields),
          policy: .standard, rules: rules, now: now)
      else { return false }
      return true
    }
  }

  func stored(
    for request: URLRequest, where mayUse: (StoredResponse) -> Bool = { _ in true }
  ) -> CachedURLResponse? {
    guard !request.hasContent, let head = try? HTTPRequest(request),
      let (response, record) = cache.stored(for: head, partition: partition, isCounted: true, where: mayUse),
      let url = request.url?.absoluteURL,
      let urlResponse = recentResponses.response(for: response, url: url)
    else { return nil }
    let body = response.body
    // A damaged body counts as not stored; the observer was told.
    guard let bytes = body.bytesInMemory ?? CallingThreadExecutor.wait({ try? await body.collect() }) else {
      return nil
    }
    return CachedURLResponse(
      response: urlResponse, data: Data(bytes), userInfo: UserInfo.decoded(record.userInfo),
      storagePolicy: record.isMemoryOnly ? .allowedInMemoryOnly : .allowed)
  }

  private func userInfo(_ dictionary: [AnyHashable: Any]) -> [UInt8] {
    let (bytes, problem) = UserInfo.encoded(dictionary)
    if let problem {
      let error = CacheError(.unavailable, problem)
      cache.configuration.observer?.observe(.storeFailed(operation: "user info", error))
    }
    return bytes
  }

  /// Whether the bytes differ from what the fields describe: Foundation delivers decoded content with the
  /// fields of the coded content, and a delegate may have changed the bytes.
  private static func isDecoded(_ response: HTTPResponse, _ body: BodyBytes) -> Bool {
    let fields = response.headerFields
    if let coding = fields[.contentEncoding], coding.lowercased() != "identity" { return true }
    guard let length = fields[.contentLength] else { return false }
    return Int(length) != body.count
  }
}

extension URLRequest {
  /// Whether the request has content, which is not in the key (RFC 9110 §9.3.1).
  fileprivate var hasContent: Bool { httpBodyStream != nil || httpBody?.isEmpty == false }
}

extension Timestamp {
  /// The date in whole seconds, clamped.
  init(_ date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    self.init(seconds: Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max))
  }
}
