import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// Stores a local file as the response to a request, for example a file that a background session or another
  /// program downloaded. The file stays where it is. It is read in pieces; where the file system lets files share
  /// blocks (such as Btrfs and XFS), its bytes are not written again.
  ///
  /// RFC 9111 §3 decides as for a response of an origin that arrives now. A `Repr-Digest` or `Content-Digest` of
  /// the response is verified (RFC 9530).
  ///
  /// - Parameters:
  ///   - path: a regular file with the whole body, in the content coding that the response states.
  ///   - response: the head that came with the body; not a 206.
  ///   - request: the request that was answered.
  ///   - partition: as in `RequestOptions.partition`.
  /// - Returns: why the response is not stored; nil if it is.
  /// - Throws: `CacheError.io` if the file cannot be opened, `CacheError.invalidRequest` for a request that has
  ///   no key.
  @discardableResult
  public func adopt(
    file path: String, response: HTTPResponse, for request: HTTPRequest, partition: String = ""
  ) async throws(CacheError) -> StorageRefusal? {
    guard CacheKey.target(of: request) != nil else {
      throw CacheError(.invalidRequest, "the request has no absolute http or https URL")
    }
    let file = try AdoptedFile(path)
    if response.status.code == 206 { return .partialContent }
    if let text = response.headerFields[.contentLength], Int64(text) != file.length { return .incomplete }
    let rules = configuration.rules
    if case .doNotStore(let refusal) = Storability.decide(
      request: request, response: response,
      rules: rules.resolved(for: request, target: CacheKey.target(of: request) ?? ""),
      now: configuration.clock.now)
    {
      return refusal
    }
    return await adopt(
      AdoptedResponse(response, file: file), to: request, partition: partition,
      asking: .concurrent(configuration.clock, executor: configuration.executor))
  }

  /// Appends the bytes of an adopted response to a writer.
  ///
  /// - Returns: the algorithm of a digest that the bytes do not match; nil if there is none.
  func append(
    _ adopted: AdoptedResponse, to writer: any BodyWriter
  ) async throws(CacheError) -> IntegrityDigest.Algorithm? {
    guard let file = adopted.file else {
      try await writer.append(adopted.body)
      return nil
    }
    var verifier = DigestVerifier(
      IntegrityDigest.list(of: .content, in: adopted.head.headerFields)
        + IntegrityDigest.list(of: .representation, in: adopted.head.headerFields))
    if let writer = writer as? any CloningBodyWriter,
      try await writer.appendClone(of: file.descriptor, length: file.length, see: { verifier?.update($0) })
    {
      return verifier?.mismatch()
    }
    var position: Int64 = 0
    while position < file.length {
      let bytes = try file.read(at: position)
      verifier?.update(bytes)
      try await writer.append(bytes)
      position += Int64(bytes.count)
    }
    return verifier?.mismatch()
  }
}
