import HTTPCacheSemantics
import HTTPCaching

extension DownloadAttempt {
  /// The stored response with the whole file, whatever its age; nil without one.
  ///
  /// - Parameter validators: those of the downloaded response; nil for any.
  func stored(_ request: HTTPRequest, _ validators: ResponseValidators?) -> CacheResponse? {
    let stored = cache.stored(for: request, partition: options.partition, in: options.bodyForms)
    guard let response = stored?.response,
      response.head.status.code == 200 || response.head.status.code == 203,
      response.body.source.stored != nil,
      validators == nil || ResponseValidators(response.head.headerFields) == validators
    else { return nil }
    return response
  }

  /// - Throws: `DownloadFailure` with `notStored`.
  func requireStored(_ request: HTTPRequest, _ validators: ResponseValidators) throws(DownloadFailure) {
    if stored(request, validators) == nil {
      throw DownloadFailure(.notStored, "the cache did not keep the response")
    }
  }

  /// Makes the part a link to the stored body if the download allows it and has just written the body, a clone where
  /// the file system can, else a copy.
  ///
  /// - Parameter response: the response that was stored before this attempt; nil if this attempt stored the body.
  /// - Throws: `NotKept` if the body is not stored; `CacheError`.
  func fill(
    _ part: PartFile, from response: CacheResponse?, request: HTTPRequest, validators: ResponseValidators
  ) async throws {
    guard let stored = (response ?? stored(request, validators))?.body.source.stored else { throw NotKept() }
    if response == nil, item.download.linksEntry, let region = stored.reader.fileRegion, region.offset == 0,
      region.count == stored.reader.length, part.link(to: region.descriptor)
    {
      return
    }
    do throws(CacheError) { try await part.clone(stored.reader) } catch {
      if error.code == .damaged || error.code == .unavailable { throw NotKept() }
      throw error
    }
  }

  /// Moves a complete part to the destination.
  func place(
    _ part: PartFile, at file: DestinationFile, validators: ResponseValidators
  ) throws(DownloadFailure) {
    let modified = validators.lastModified.flatMap { Timestamp(httpDate: $0, relativeTo: clock.now)?.seconds }
    let placed = try part.finish(
      for: file.path, modified: modified, isDurable: cache.configuration.durability == .durable)
    // The destination may have changed during the transfer.
    let occupant = try file.occupant(item.placed)
    tell(.placing(placed))
    try part.move(to: file.path, mustBeNew: occupant == .nothing && !file.replacesExisting)
  }

  /// The request for another target.
  static func request(_ request: HTTPRequest, at target: String) -> HTTPRequest {
    guard let parts = TargetURI.parts(of: target) else { return request }
    var request = request
    (request.scheme, request.authority, request.path) = (parts.scheme, parts.authority, parts.path)
    return request
  }
}
