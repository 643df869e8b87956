import Foundation
import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Downloads of responses that the cache does not store, such as files above its largest entry: a part beside the
/// destination takes the place of the partial entry.
extension CachedURLSession {
  /// The part that receives a response which the cache does not store; nil for a response that cannot be continued
  /// later: it has no length, no strong validator (RFC 9110 §8.8.1), or its coding was removed.
  private func newPart(
    for loaded: LoadedResponse, to request: URLRequest, at destination: URL
  ) -> DownloadPart? {
    guard let url = Self.continuable(request), let cached = loaded.cached,
      case .forwarded(_, status: 200, storage: .doNotStore, _) = cached.outcome,
      // A body whose coding was removed has no length.
      let length = loaded.body.length,
      let validator = StrongValidator(cached.head.headerFields, receivedAt: cache.configuration.clock.now)
    else { return nil }
    let note = DownloadPart.Note(
      url: url.absoluteString, partition: partition, validator: Data(validator.value), length: length)
    return DownloadPart.new(note, at: destination)
  }

  /// Continues a part that an earlier download left beside the destination.
  ///
  /// - Returns: the response as if it had come at once; nil if there is no part, or it is out of date.
  /// - Throws: as `download(for:to:cachePolicy:options:delegate:progress:)`.
  func continuePart(
    of request: URLRequest, at destination: URL, _ options: LoadOptions,
    _ delegate: (any URLSessionTaskDelegate)?, _ progress: (@Sendable (DownloadProgress) -> Void)?
  ) async throws -> URLResponse? {
    guard mayContinue(options.cachePolicy ?? policy(of: request)), let url = Self.continuable(request),
      let part = DownloadPart.kept(of: url, partition, at: destination)
    else { return nil }
    if let made = try? cacheRequest(request, .none), cache.stored(for: made, partition: partition) != nil {
      part.remove()
      return nil
    }
    var rest = request
    rest.setValue("bytes=\(part.received)-", forHTTPHeaderField: "Range")
    rest.setValue(String(decoding: part.note.validator, as: UTF8.self), forHTTPHeaderField: "If-Range")
    // A coded body has other ranges.
    rest.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    var options = options
    options.cachePolicy = .bypass
    return try await reading(rest, .none, options, delegate) { loaded in
      guard let whole = Self.whole(loaded, continuing: part) else {
        let status = loaded.cached?.head.status.code
        if status == 206 || status == 416 {
          // The origin has another file than before, or sends other bytes than it was asked for.
          loaded.body.source.cancel()
          part.remove()
          return nil
        }
        if status == 200 { part.remove() }
        return try await place(loaded, of: request, at: destination, progress)
      }
      try await FileSink.complete(part, with: loaded.body, progress)
      try part.finish(at: destination)
      return whole
    }
  }

  /// Puts a response at the destination.
  ///
  /// - Throws: as `download(for:to:cachePolicy:options:delegate:progress:)`.
  func place(
    _ loaded: LoadedResponse, of request: URLRequest, at destination: URL,
    _ progress: (@Sendable (DownloadProgress) -> Void)?
  ) async throws -> URLResponse {
    if let response = loaded.response as? HTTPURLResponse, !Self.hasContent(response.statusCode, of: request)
    {
      loaded.body.source.cancel()
      throw UnexpectedStatus(response: response)
    }
    if let part = newPart(for: loaded, to: request, at: destination) {
      try await FileSink.complete(part, with: loaded.body, progress)
      try part.finish(at: destination)
    } else {
      let folder = destination.deletingLastPathComponent()
      try await FileSink.file(of: loaded.body, in: folder, progress).move(to: destination)
    }
    return loaded.response
  }

  /// Whether a policy accepts bytes that were received earlier, and lets the origin be asked.
  private func mayContinue(_ policy: CachePolicy) -> Bool {
    switch policy {
    case .standard, .revalidate, .cacheElseNetwork, .networkElseCache, .bypass: true
    case .reload, .reloadEverywhere, .cacheOnly: false
    }
  }

  /// The URL of a request for a whole file.
  private static func continuable(_ request: URLRequest) -> URL? {
    guard request.httpMethod ?? "GET" == "GET", request.httpBody == nil, request.httpBodyStream == nil,
      request.value(forHTTPHeaderField: "Range") == nil
    else { return nil }
    return request.url
  }

  /// A 206 that continues the part (RFC 9110 §15.3.7), as the 200 that the caller asked for; nil for any other
  /// response.
  private static func whole(_ loaded: LoadedResponse, continuing part: DownloadPart) -> URLResponse? {
    guard var response = loaded.cached, let url = loaded.response.url,
      let (range, length) = PartialContent.part(of: response.head),
      range == part.received..<part.note.length, length ?? part.note.length == part.note.length,
      // A 206 must have the ETag of the file, and may leave out its Last-Modified.
      response.head.headerFields[.eTag].map({ Data($0.utf8) == part.note.validator }) ?? true
    else { return nil }
    response.head.status = .ok
    response.head.headerFields[.contentRange] = nil
    response.head.headerFields[.contentLength] = String(part.note.length)
    return CachedHTTPURLResponse(response, url: url)
  }
}
