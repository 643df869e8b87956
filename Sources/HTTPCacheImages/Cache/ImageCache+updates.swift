import HTTPCaching

extension ImageCache {
  /// The maximum number of previews of one response.
  private static let previewLimit = 4

  /// The stored image first, then the origin's if that is different; in between, previews of a progressive JPEG as it
  /// arrives.
  ///
  /// `HTTPCache.responses(to:body:policy:options:via:)` says when a stored image comes first. There is no second
  /// image if the origin confirms the first one or fails. A preview is processed like the image.
  ///
  /// - Returns: the images; the sequence throws what `image(for:)` throws as long as it has given none. It ends, and
  ///   its download with it, when the task that reads it is cancelled.
  public func updates(for request: ImageRequest) -> AsyncThrowingStream<ImageUpdate, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task(priority: request.priority.taskPriority) {
        do {
          try await self.update(request) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func update(
    _ request: ImageRequest, _ give: @escaping @Sendable (ImageUpdate) -> Void
  ) async throws {
    let handle = WorkHandle(request.priority)
    var answers = cache.responses(
      to: request.request, policy: request.policy, options: options(for: request), via: upstream
    ).makeAsyncIterator()
    let mark = StoreMark(cache)
    let mayGiveStored = !needsOrigin(request.with(policy: .cacheElseNetwork))
    let first =
      mayGiveStored
      ? try await answers.next() : try await downloadPermits.with(handle) { try await answers.next() }
    guard let first else { return }
    try await finish(first, request, mark, handle, give)
    guard case .hit(_, _, let allowance) = first.outcome, request.policy != .standard || allowance != nil
    else {
      return
    }
    // The stored image stays if what follows it fails.
    do {
      try await downloadPermits.with(handle) {
        guard let second = try await answers.next() else {
          // The store has a new time for the response: so has the image in memory.
          if answers.confirmation != nil { _ = try await make(request.with(policy: .cacheOnly), handle) }
          return
        }
        try await finish(second, request, mark, handle, give)
      }
    } catch {
      try Task.checkCancellation()
    }
  }

  private func finish(
    _ response: CacheResponse, _ request: ImageRequest, _ mark: StoreMark, _ handle: WorkHandle,
    _ give: @escaping @Sendable (ImageUpdate) -> Void
  ) async throws {
    var scans = ProgressiveScans()
    var previews = 0
    let fetched = try await read(response, request, mark) { bytes in
      guard previews < Self.previewLimit, let whole = scans.preview(of: bytes) else { return }
      guard let image = try? await self.decode(whole, request, handle) else {
        return
      }
      previews += 1
      give(ImageUpdate(image: image, isPreview: true, outcome: response.outcome))
    }
    give(
      ImageUpdate(
        image: try await image(of: fetched, request, handle), isPreview: false, outcome: response.outcome))
  }
}
