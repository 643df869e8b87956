import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes

/// The file that a response is loaded into.
struct DownloadTarget: Sendable {
  let url: URL
  var progress: (@Sendable (DownloadProgress) -> Void)?
  /// The time of the representation, in seconds since 1970; nil leaves the time of writing.
  var modified: Int64?
}

extension LoadedResponse {
  /// The response with a body of the length that is known of its representation.
  ///
  /// - Parameter record: the response that the bytes beside the destination belong to.
  /// - Throws: `UpstreamError` if the response announces another length.
  fileprivate func measured(_ record: PartRecord, now: Timestamp) throws(UpstreamError) -> LoadedResponse {
    guard var response = cached else { return self }
    response.body = body
    return LoadedResponse(
      response: self.response, body: try record.body(of: response, now: now), cached: cached)
  }
}

/// Bodies on their way to a file: in a part beside it. They are continued from there, unless the cache has about as many
/// bytes.
extension CachedURLSession {
  /// How to continue the part of which the cache has about as many bytes; nil if there is none.
  func coveredPart(
    of request: URLRequest, at target: DownloadTarget, options: LoadOptions
  ) async -> PartContinuation? {
    guard let (whole, part, found) = continuation(of: request, at: target, options: options) else {
      return nil
    }
    defer { part.close() }
    return await found.isCovered(by: cache, for: whole, partition: partition) ? found : nil
  }

  /// Continues a part that an earlier download left beside the destination.
  ///
  /// - Parameter meter: counts the response.
  /// - Returns: the response as if it had come at once; nil if there is no part, or it is out of date.
  /// - Throws: as `download(for:to:cachePolicy:options:delegate:progress:)`.
  func continuePart(
    of request: URLRequest, at target: DownloadTarget, options: LoadOptions,
    delegate: (any URLSessionTaskDelegate)?, meter: LoadMeter?
  ) async throws -> URLResponse? {
    guard let (_, part, continuation) = continuation(of: request, at: target, options: options)
    else { return nil }
    var rest = request
    for name in [HTTPField.Name.range, .ifRange, .acceptEncoding] {
      rest.setValue(continuation.request.headerFields[name], forHTTPHeaderField: name.rawName)
    }
    var options = options
    options.cachePolicy = .bypass
    return try await reading(rest, content: .none, options: options, delegate: delegate) { loaded in
      let loaded = loaded.metered(meter, endsRequest: false)
      guard let cached = loaded.cached else { return nil }
      let now = cache.configuration.clock.now
      switch continuation.answer(cached.head, from: cached.finalTarget, now: now) {
      case .rest:
        let length = continuation.record.length ?? PartialContent.part(of: cached.head)?.length
        try part.resume(at: continuation.offset, length: length)
        let body = try loaded.measured(continuation.record, now: now).body
        var target = target
        target.modified =
          Self.modified(cached.head.headerFields, now: now)
          ?? Self.modified(continuation.record.fields, now: now)
        do { try await complete(part, with: body, of: length, at: target) } catch let error as UpstreamError
          where error.cause is LengthContradiction
        {
          // The origin sends other bytes than it says: the whole is asked for once.
          part.close()
          return nil
        }
        var whole = cached
        whole.head = continuation.record.whole(cached.head, length: length)
        return loaded.response.url.flatMap { CachedHTTPURLResponse(whole, url: $0) }
      case .whole(let isChanged):
        if isChanged { part.discard() } else { part.close() }
        return try await place(loaded, of: request, at: target, options: options)
      case .useless, .failure:
        // The origin has another file than before, sends other bytes than it was asked for, or does not like the
        // range: the whole is asked for once. The part stays until it has come, and tells its length.
        loaded.body.source.cancel()
        part.close()
        return nil
      case .contradictory(let text):
        loaded.body.source.cancel()
        throw continuation.record.failure(for: text)
      }
    }
  }

  /// How to continue the part that an earlier download left beside the destination; nil if there is none for the request,
  /// or the policy asks for the whole again.
  private func continuation(
    of request: URLRequest, at target: DownloadTarget, options: LoadOptions
  ) -> (request: HTTPRequest, part: PartFile, continuation: PartContinuation)? {
    guard Self.isWithoutContent(request), let made = try? cacheRequest(request, .none),
      let part = PartFile(existingBeside: target.url.path),
      let continuation = PartContinuation(
        of: made, part: part, policy: options.cachePolicy ?? policy(of: request), scope: partition)
    else { return nil }
    return (made, part, continuation)
  }

  /// Puts a response at the destination.
  ///
  /// - Throws: as `download(for:to:cachePolicy:options:delegate:progress:)`.
  func place(
    _ loaded: LoadedResponse, of request: URLRequest, at target: DownloadTarget, options: LoadOptions
  ) async throws -> URLResponse {
    let now = cache.configuration.clock.now
    let known = continuation(of: request, at: target, options: options)
    // Writing opens the part again.
    known?.part.close()
    if let response = loaded.response as? HTTPURLResponse,
      !Self.hasContent(response.statusCode, of: request)
        || known != nil && !PartContinuation.mayReplacePart(status: response.statusCode)
    {
      loaded.body.source.cancel()
      throw UnexpectedStatus(response: response)
    }
    var loaded = loaded
    if let known { loaded = try loaded.measured(known.continuation.record, now: now) }
    var target = target
    target.modified = Self.modified(loaded.cached?.head.headerFields, now: now)
    try await write(
      loaded.body, to: target, record: record(of: loaded, to: request),
      of: Self.isWithoutContent(request) ? try? cacheRequest(request, .none) : nil)
    return loaded.response
  }

  /// Writes a body to a file, which replaces the file at the destination in one step when it is complete.
  ///
  /// - Parameters:
  ///   - record: that of the response; nil if the response cannot be continued later.
  ///   - request: the request for the whole file; nil for one that cannot be continued.
  /// - Throws: what the body throws, `DownloadFailure`.
  func write(
    _ body: MessageBody, to target: DownloadTarget, record: PartRecord? = nil, of request: HTTPRequest? = nil
  ) async throws {
    let part = try PartFile(beside: target.url.path)
    try part.begin(record, for: request, scope: partition)
    if let stored = body.source.stored, stored.range.lowerBound == 0,
      stored.range.upperBound == stored.reader.length,
      (try? await part.clone(stored.reader)) != nil
    {
      return try place(part, at: target, length: Int64(stored.range.count))
    }
    try await complete(part, with: body, of: body.length, at: target)
  }

  /// Adds a body to a part, which then is the whole file, and moves it to the destination.
  private func complete(
    _ part: PartFile, with body: MessageBody, of length: Int64?, at target: DownloadTarget
  ) async throws {
    do {
      for try await bytes in body {
        try await part.append(bytes)
        target.progress?(DownloadProgress(received: part.received, expected: length))
      }
      // A cancelled body may end as if it were complete.
      try Task.checkCancellation()
    } catch {
      await part.keep(after: error)
      throw error
    }
    if let length, part.received != length {
      throw UpstreamError(.protocol, "the body ended at byte \(part.received) of \(length)")
    }
    if let algorithm = try await part.mismatch() {
      part.discard()
      throw UpstreamError(.protocol, "the bytes do not have their \(algorithm.rawValue) digest (RFC 9530)")
    }
    try place(part, at: target, length: part.received)
  }

  private func place(_ part: PartFile, at target: DownloadTarget, length: Int64) throws {
    try part.place(
      at: target.url.path, modified: target.modified, isDurable: cache.configuration.durability == .durable)
    target.progress?(DownloadProgress(received: length, expected: length))
  }

  /// The record of a response; nil if it cannot be continued later.
  private func record(of loaded: LoadedResponse, to request: URLRequest) -> PartRecord? {
    guard Self.isWithoutContent(request), let cached = loaded.cached, case .forwarded = cached.outcome,
      // A body whose coding was removed has no length.
      let length = loaded.body.length, let made = try? cacheRequest(request, .none)
    else { return nil }
    return PartRecord(
      of: cached.head, to: made, from: cached.finalTarget, scope: partition, length: length,
      now: cache.configuration.clock.now)
  }

  /// The time of the representation, in seconds since 1970.
  private static func modified(_ fields: HTTPFields?, now: Timestamp) -> Int64? {
    fields?[.lastModified].flatMap { Timestamp(httpDate: $0, relativeTo: now)?.seconds }
  }

  private static func isWithoutContent(_ request: URLRequest) -> Bool {
    request.httpBody == nil && request.httpBodyStream == nil
  }
}
