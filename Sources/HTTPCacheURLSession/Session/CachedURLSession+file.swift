public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CachedURLSession {
  /// The stored body of a response as a file, without asking the origin. It stays as long as the result
  /// is held, whatever happens to the response.
  ///
  /// - Parameters:
  ///   - request: a GET.
  ///   - cachePolicy: how fresh it has to be; `.cacheElseNetwork` takes what is stored whatever its age,
  ///     `.standard` what may be used without asking the origin.
  /// - Returns: nil if nothing is stored that may be used.
  /// - Throws: `URLError` for a request that cannot be cached, `CacheError` if no file can be made.
  public func file(
    for request: URLRequest, cachePolicy: CachePolicy = .cacheElseNetwork
  ) async throws -> CachedFile? {
    do {
      try checkValid()
      let options = RequestOptions(acceptsDecoded: true, acceptsEncoded: false)
      let made = try cacheRequest(request, .none)
      if made.namesOtherHost { return nil }
      return try await cache.file(for: made, policy: cachePolicy, options: options)
    } catch {
      throw Self.foundations(error, request.url)
    }
  }

  /// Where the stored body of a response lies as a file, without asking the origin. The file stays as
  /// long as the session: each call makes one, so where there are many, hold `file(for:)` instead.
  ///
  /// - Parameters: as for `file(for:cachePolicy:)`.
  /// - Returns: nil if nothing is stored that may be used.
  /// - Throws: as `file(for:cachePolicy:)`.
  public func fileURL(
    for request: URLRequest, cachePolicy: CachePolicy = .cacheElseNetwork
  ) async throws -> URL? {
    guard let file = try await file(for: request, cachePolicy: cachePolicy) else { return nil }
    keep(file)
    return file.url
  }
}

extension CachedFile {
  /// Where it is.
  public var url: URL { URL(fileURLWithPath: path) }
}
