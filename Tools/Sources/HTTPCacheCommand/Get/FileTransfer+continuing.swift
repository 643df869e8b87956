import HTTPCacheArchives
import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCaching

/// The response that a file is made of, and how it goes on with the part file.
struct FoundAnswer {
  var response: CacheResponse
  /// Set if the response has the rest of the part file.
  var continuation: PartContinuation?
  /// Why the whole body is fetched again; nil if it is not.
  var restart: String?
}

/// The request for the rest of a part file, and the one for the whole.
extension FileTransfer {
  /// Asks for the rest of the part file, and for the whole if there is no rest.
  ///
  /// - Parameter progress: gets the length that is known, for the report of a failure.
  /// - Throws: a failure for a response without the file, which must not take the place of the part; `UpstreamError` for
  ///   one that contradicts itself or the part; what asking throws.
  func find(_ policy: CachePolicy, _ progress: inout TransferProgress) async throws -> FoundAnswer {
    let (first, asked) = try await firstAnswer(policy)
    guard let continuation = asked else {
      let known = partContinuation(policy)?.record
      return FoundAnswer(response: try measured(first, known, &progress))
    }
    if isUnsatisfiable(first) { return FoundAnswer(response: first) }
    let known = continuation.record
    switch continuation.answer(first.head, from: first.finalTarget, now: clock.now) {
    case .rest:
      return FoundAnswer(response: try measured(first, known, &progress), continuation: continuation)
    case .whole(let isChanged):
      return FoundAnswer(
        response: try measured(first, known, &progress), restart: Self.restart(isChanged: isChanged))
    case .useless(let isChanged):
      return try await whole(insteadOf: first, known, isChanged: isChanged, policy, &progress)
    case .failure:
      // It may be the range that the origin does not like: it is asked once without it.
      return try await whole(insteadOf: first, known, isChanged: false, policy, &progress)
    case .contradictory(let text):
      first.body.source.cancel()
      progress.length = known.length
      throw known.failure(for: text)
    }
  }

  /// The answer to the request for the whole, after an answer to a range that has no octets of the rest.
  ///
  /// - Parameters:
  ///   - known: the response that the part file belongs to.
  ///   - isChanged: whether there is another representation.
  /// - Throws: as `find`.
  func whole(
    insteadOf response: CacheResponse, _ known: PartRecord?, isChanged: Bool, _ policy: CachePolicy,
    _ progress: inout TransferProgress
  ) async throws -> FoundAnswer {
    response.body.source.cancel()
    let whole = try await respond(to: request, policy)
    return FoundAnswer(
      response: try measured(whole, known, &progress), restart: Self.restart(isChanged: isChanged))
  }

  /// The response with a body of the length that is known of its representation.
  private func measured(
    _ response: CacheResponse, _ known: PartRecord?, _ progress: inout TransferProgress
  ) throws -> CacheResponse {
    guard let known, !isUnsatisfiable(response) else { return response }
    var measured = response
    do {
      let status = response.head.status.code
      guard PartContinuation.mayReplacePart(status: status) else {
        throw TransferReport.Failure(
          status: .httpError, reason: "status \(status) in place of the rest of the response")
      }
      measured.body = try known.body(of: response, now: clock.now)
    } catch {
      response.body.source.cancel()
      progress.length = known.length
      throw error
    }
    return measured
  }

  /// The answer to the request for the rest of the part file; without a part to continue, that to the request for the
  /// whole.
  private func firstAnswer(_ policy: CachePolicy) async throws -> (CacheResponse, PartContinuation?) {
    guard let found = partContinuation(policy) else { return (try await respond(to: request, policy), nil) }
    if await found.isCovered(by: fetcher.cache, for: request, partition: fetcher.options.partition) {
      let whole = try await respond(to: request, policy)
      guard found.goesOn(insteadOf: whole, now: clock.now) else { return (whole, nil) }
      whole.body.source.cancel()
    }
    return (try await respond(to: found.request, policy), found)
  }

  /// How to continue the part file, whatever the cache has; nil without a part file for the request.
  func partContinuation(_ policy: CachePolicy) -> PartContinuation? {
    // The queue keeps parts with a content coding; `get` writes decoded bytes.
    guard let part = output.part, !fetcher.includesHead, content == nil,
      part.record?.fields[.contentEncoding] == nil
    else { return nil }
    return PartContinuation(of: request, part: part, policy: policy, scope: scope)
  }

  /// Why the whole body is fetched again.
  private static func restart(isChanged: Bool) -> String {
    isChanged
      ? "the response has changed since its first part came" : "the origin does not continue responses"
  }
}
