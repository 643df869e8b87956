import HTTPCacheSemantics
import HTTPCaching

extension DownloadAttempt {
  /// The stored response to the download's request, whatever its age; nil if it is not stored whole, or is
  /// another one than was downloaded.
  private func stored(_ request: HTTPRequest, _ validators: ResponseValidators) async throws -> CacheResponse?
  {
    let response = try await cache.respond(
      to: request.withoutConditions, policy: .cacheOnly, options: options, via: NoUpstream())
    guard response.head.status.code == 200 || response.head.status.code == 203,
      response.body.source.stored != nil,
      ResponseValidators(response.head.headerFields) == validators
    else {
      response.body.source.cancel()
      return nil
    }
    return response
  }

  /// - Throws: `DownloadFailure` with `notStored`.
  func requireStored(_ request: HTTPRequest, _ validators: ResponseValidators) async throws {
    guard let response = try await stored(request, validators) else {
      throw DownloadFailure(.notStored, "the cache did not keep the response")
    }
    response.body.source.cancel()
  }

  /// Makes the part file of the stored body: a clone where the file system can, else a copy.
  ///
  /// - Throws: `NotKept` if the body is not stored; `CacheError`.
  func clone(
    _ response: CacheResponse?, to file: DestinationFile, _ request: HTTPRequest,
    _ validators: ResponseValidators
  ) async throws {
    var response = response
    if response == nil { response = try await stored(request, validators) }
    guard let stored = response?.body.source.stored else { throw NotKept() }
    file.removePart()
    do throws(CacheError) { try await stored.reader.clone(to: file.part) } catch {
      if error.code == .noSpace { throw error }
      // The folder tells better than the store why no file can be made there.
      _ = try file.modeOfNewFile()
      if error.code == .damaged || error.code == .unavailable { throw NotKept() }
      throw error
    }
  }

  /// Moves the part file to the destination.
  ///
  /// - Parameter mode: the permissions of the file.
  func place(
    _ file: DestinationFile, _ validators: ResponseValidators, mode: UInt32
  ) throws(DownloadFailure) {
    let modified = validators.lastModified.flatMap { Timestamp(httpDate: $0, relativeTo: clock.now)?.seconds }
    let placed = try file.finishPart(
      mode: mode, modified: modified, isDurable: cache.configuration.durability == .durable)
    // The destination may have changed during the transfer.
    let occupant = try file.occupant(item.placed)
    tell(.placing(placed))
    try file.move(replacing: occupant)
  }

  /// The request for another target.
  static func request(_ request: HTTPRequest, at target: String) -> HTTPRequest {
    guard let parts = TargetURI.parts(of: target) else { return request }
    var request = request
    (request.scheme, request.authority, request.path) = (parts.scheme, parts.authority, parts.path)
    return request
  }
}

/// The way to no origin.
struct NoUpstream: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    throw UpstreamError(.unreachable, "only the cache is asked")
  }
}
