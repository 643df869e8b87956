import HTTPCacheSemantics
import HTTPTypes

extension Exchange {
  /// A request for the missing part of a stored incomplete response.
  struct Completion: Sendable {
    /// The index of the candidate.
    let index: Int
    /// The octets asked for; an upper bound of `Int64.max` asks for all octets from the lower bound on.
    let missing: Range<Int64>
    /// The octets that the caller gets; nil for all.
    let wanted: Range<Int64>?
  }

  /// A 206 that belongs to a stored incomplete response (RFC 9111 §3.4).
  struct Combination: Sendable {
    /// The index of the candidate.
    let index: Int
    /// The candidate with the header fields of the 206.
    let stored: StoredResponse
    /// The octets of the 206.
    let range: Range<Int64>
    /// The length of the representation in bytes; nil if unknown.
    let length: Int64?
    /// The completion that was requested; nil if the 206 answers the caller's own range.
    let completion: Completion?
  }

  /// Whether a candidate may answer the request: it is complete, or it contains the whole range that the
  /// request asks for (RFC 9111 §3.3).
  func isSuitable(_ index: Int) -> Bool {
    guard let part = part(index) else { return true }
    return RangeRequest.ranges(for: request, stored: candidates[index], part: part) != nil
  }

  /// The stored part of a candidate; nil if all of it is stored.
  func part(_ index: Int) -> StoredPart? { parts.isEmpty ? nil : parts[index] }

  /// How to complete an incomplete response from the origin; nil if no incomplete response can be completed,
  /// or if completing it saves too little.
  func completion() -> Completion? {
    // A reload must not use any stored response, so it fetches the whole response.
    guard mayComplete, request.method == .get, !hasBody, !directives.noStore, !isReload, policy != .cacheOnly,
      !features.contains(.conditions), selected.map({ part($0) == nil }) ?? true,
      let index = resumable(), let part = part(index)
    else { return nil }
    switch RangeRequest.evaluate(request, stored: candidates[index], length: part.length) {
    case .whole:
      guard part.length != nil || request.headerFields[.range] == nil, let missing = missingOfWhole(part)
      else { return nil }
      return Completion(index: index, missing: missing, wanted: nil)
    case .partial(let ranges):
      guard ranges.count == 1, let wanted = ranges.first, let missing = part.missing(in: wanted),
        missing != wanted
      else { return nil }
      return Completion(index: index, missing: missing, wanted: wanted)
    case .unsatisfiable: return nil
    }
  }

  /// The most recent incomplete response that matches, unless a complete one is more recent.
  private func resumable() -> Int? {
    var best: Int?
    for index in candidates.indices
    where part(index) != nil && PartialContent.isResumable(candidates[index])
      && matches(index)
    {
      if let other = best, candidates[other].responseTime >= candidates[index].responseTime { continue }
      best = index
    }
    guard let best, let complete = selected else { return best }
    return candidates[best].responseTime >= candidates[complete].responseTime ? best : nil
  }

  private func missingOfWhole(_ part: StoredPart) -> Range<Int64>? {
    if let length = part.length {
      guard let missing = part.missing(in: 0..<length), missing != 0..<length else { return nil }
      return missing
    }
    return part.ranges.count == 1 && part.prefix > 0 ? part.prefix..<Int64.max : nil
  }

  /// Combines a 206 with an incomplete response; nil if they must not be combined.
  func combination(_ received: ReceivedResponse, _ forward: Forward, isDecoded: Bool) -> Combination? {
    let response = received.head
    guard response.status.code == 206, !isDecoded, policy != .bypass, request.method == .get,
      case .store = Storability.decide(
        request: request.unranged, response: response, rules: rules, now: received.responseTime)
    else { return nil }
    for index in candidates.indices
    where part(index) != nil && forward.completion.map({ $0.index == index }) ?? true
      && matches(index)
    {
      let known = part(index)?.length
      guard
        let range = PartialContent.range(
          of: response, in: candidates[index], length: known, receivedAt: received.responseTime)
      else { continue }
      let length = known ?? PartialContent.part(of: response)?.length
      if let completion = forward.completion {
        guard let length, range.lowerBound == completion.missing.lowerBound,
          range.upperBound == min(length, completion.missing.upperBound)
        else { return nil }
      }
      let stored = keyed(
        PartialContent.combined(
          candidates[index], with: received, length: length, rules: rules, answering: request.unranged,
          digest: digest))
      guard !stored.isInvalidated else { return nil }
      return Combination(
        index: index, stored: stored, range: range, length: length, completion: forward.completion)
    }
    return nil
  }

  /// Whether a status that answers a request for the rest may be about the range alone, so that the whole is asked for
  /// once: a 206 that cannot be combined, an error, and any other success without a whole representation.
  static func isAboutRange(_ status: Int) -> Bool {
    [206, 304].contains(status) || status >= 400 || PartialContent.hasNoRepresentation(status: status)
  }

  /// The length that a whole response must have, because a part of its representation is stored. nil if none is, and
  /// for a request that asks for a new response whatever is stored.
  func knownLength(
    of response: HTTPResponse, isDecoded: Bool, receivedAt time: Timestamp
  ) -> KnownLength? {
    guard request.method == .get, !parts.isEmpty, !isDecoded, !isReload else { return nil }
    for index in candidates.indices {
      let stored = candidates[index]
      if let known = KnownLength(
        part(index)?.length, validator: stored.strongValidator?.value, of: stored.head.headerFields),
        known.applies(to: response, receivedAt: time)
      {
        return known
      }
    }
    return nil
  }

  /// A response with a body that ends with an error at another length than the known one. Content-Length announces
  /// another length before.
  func measured(_ response: UpstreamResponse, receivedAt time: Timestamp) -> UpstreamResponse {
    guard !response.head.headerFields.contains(.contentLength),
      let known = knownLength(
        of: response.head, isDecoded: response.isContentDecoded, receivedAt: time)
    else { return response }
    var response = response
    response.body = MessageBody(ExactBody(response.body, length: known.length))
    return response
  }

  /// Whether the request asks for a new response, whatever is stored.
  private var isReload: Bool {
    switch policy {
    case .standard, .revalidate, .cacheElseNetwork, .networkElseCache, .cacheOnly:
      directives.noCache || directives.pragmaNoCache
    case .reload, .reloadEverywhere, .bypass: true
    }
  }

  /// Whether a response has the strong validator of a candidate, and its content coding.
  func hasOctets(of response: HTTPResponse, _ index: Int, receivedAt time: Timestamp) -> Bool {
    let stored = candidates[index]
    guard let validator = stored.strongValidator else { return false }
    return PartialContent.hasOctets(
      response, of: validator.value, coding: stored.head.headerFields[.contentEncoding], receivedAt: time)
  }

  /// The octets from the first one on that are stored of the representation of a response; 0 for none.
  func storedPrefix(of response: HTTPResponse, receivedAt time: Timestamp) -> Int64 {
    candidates.indices.compactMap { index in
      part(index).flatMap { hasOctets(of: response, index, receivedAt: time) ? $0.prefix : nil }
    }.max() ?? 0
  }

  /// Whether a 206 belongs to a representation that is completely stored.
  func isStoredWhole(_ response: HTTPResponse, receivedAt: Timestamp) -> Bool {
    response.status.code == 206
      && candidates.indices.contains { index in
        part(index) == nil
          && matches(index)
          && PartialContent.range(
            of: response, in: candidates[index], length: nil, receivedAt: receivedAt) != nil
      }
  }
}
