import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

extension ImageCache {
  func options(for request: ImageRequest) -> RequestOptions {
    RequestOptions(
      partition: request.partition, bodyForms: .any, timeout: configuration.timeout,
      priority: request.priority.taskPriority, willStore: ContentSniffer.hook)
  }

  /// Fetches the bytes of an image. A request that the cache can answer waits for no download.
  func fetch(_ request: ImageRequest, _ handle: WorkHandle) async throws -> FetchedImage {
    let answer = { () async throws -> FetchedImage in
      let mark = StoreMark(self.cache)
      let response = try await self.cache.respond(
        to: request.request, policy: request.policy, options: self.options(for: request), via: self.upstream)
      return try await self.read(response, request, mark)
    }
    return needsOrigin(request) ? try await downloadPermits.with(handle, answer) : try await answer()
  }

  func needsOrigin(_ request: ImageRequest) -> Bool {
    switch request.policy {
    case .cacheOnly: return false
    case .reload, .reloadEverywhere, .revalidate, .bypass, .networkElseCache: return true
    case .standard, .cacheElseNetwork:
      guard let stored = cache.stored(for: request.request, partition: request.partition),
        case .hit(_, _, let allowance) = stored.response.outcome
      else { return true }
      return request.policy == .standard && allowance != nil
    }
  }

  /// Reads the body of a response that may be an image.
  ///
  /// - Parameters:
  ///   - mark: the state of the store before the request.
  ///   - onPart: gets all bytes so far, after each part of a response from the origin.
  func read(
    _ response: CacheResponse, _ request: ImageRequest, _ mark: StoreMark,
    onPart: (([UInt8]) async -> Void)? = nil
  ) async throws -> FetchedImage {
    if case .unsatisfiable = response.outcome {
      response.body.source.cancel()
      throw ImageError.notStored
    }
    guard response.head.status.code == 200 || response.head.status.code == 203 else {
      response.body.source.cancel()
      throw ImageError.status(response.head.status.code)
    }
    let bytes = try await collect(response, onPart)
    let digest = bytes.withUnsafeBytes { XXH64.hash($0) }
    let facts = facts(of: response, request, mark)
    return FetchedImage(
      bytes: bytes, digest: digest, outcome: response.outcome, record: facts.record,
      freshUntil: facts.freshUntil, mark: facts.mark, isKept: facts.isKept,
      contentType: ContentSniffer.contentType(of: response.head))
  }

  private func collect(
    _ response: CacheResponse, _ onPart: (([UInt8]) async -> Void)?
  ) async throws -> BodyBytes {
    let limit = configuration.bodyLimit
    if let length = response.body.length, length > limit {
      response.body.source.cancel()
      throw ImageError.tooManyBytes(limit: limit)
    }
    let isFromOrigin = if case .forwarded = response.outcome { true } else { false }
    guard isFromOrigin else {
      do { return try await response.body.collect(upTo: limit) } catch is MessageBody.TooLong {
        throw ImageError.tooManyBytes(limit: limit)
      }
    }
    var all: [UInt8] = []
    return try await withTaskCancellationHandler {
      while let part = try await response.body.source.next() {
        guard part.count <= limit - all.count else {
          response.body.source.cancel()
          throw ImageError.tooManyBytes(limit: limit)
        }
        part.withUnsafeBytes { all.append(contentsOf: $0) }
        await onPart?(all)
      }
      // A cancelled source may end as if it were complete.
      try Task.checkCancellation()
      return BodyBytes(all)
    } onCancel: {
      response.body.source.cancel()
    }
  }

  private struct Facts {
    var record: CacheRecord?
    var freshUntil: Timestamp?
    var mark: StoreMark
    var isKept = true
  }

  private func facts(of response: CacheResponse, _ request: ImageRequest, _ mark: StoreMark) -> Facts {
    // The freshness of a redirect is not that of its target: look it up at each use.
    let isDirect = response.redirects.isEmpty
    let now = cache.configuration.clock.now
    switch response.outcome {
    case .hit(let age, let lifetime, nil), .validated(_, let age, let lifetime):
      return Facts(
        record: response.storedRecord, freshUntil: isDirect ? now.adding(lifetime - age) : nil, mark: mark)
    case .hit, .unsatisfiable: return Facts(record: response.storedRecord, mark: mark)
    case .forwarded(_, _, .doNotStore, _): return Facts(mark: mark, isKept: false)
    case .forwarded(_, _, .store, _):
      let mark = StoreMark(cache)
      guard isDirect, let stored = cache.stored(for: request.request, partition: request.partition),
        case .hit(let age, let lifetime, nil) = stored.response.outcome,
        // Another response may have been stored meanwhile.
        [.eTag, .lastModified, .date, .contentLength].allSatisfy({ (name: HTTPField.Name) in
          stored.response.head.headerFields[name] == response.head.headerFields[name]
        })
      else { return Facts(mark: mark) }
      return Facts(record: stored.record, freshUntil: now.adding(lifetime - age), mark: mark)
    }
  }
}
