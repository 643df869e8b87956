package import HTTPCacheSemantics
package import HTTPCacheStore
package import HTTPTypes

/// Seeds in memory, for tests of a `SeedLayer` and of caches over one.
package final class ListedSeeds: SeedSource {
  /// A body in memory.
  final class Body: StoredBody, BodyReader {
    private let bytes: BodyBytes
    private let isDamaged: Bool

    init(_ bytes: BodyBytes, isDamaged: Bool) {
      self.bytes = bytes
      self.isDamaged = isDamaged
    }

    func open() throws(CacheError) -> any BodyReader { self }

    var length: Int64? { Int64(bytes.count) }

    func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
      if isDamaged { throw CacheError(.damaged, "a seed of a test") }
      return bytes[Int(range.lowerBound)..<Int(range.upperBound)]
    }
  }

  package let name: String
  package let newest: Timestamp
  private let list: [SeedResponse]
  private let failure: CacheError?

  /// - Parameters:
  ///   - list: the responses.
  ///   - name: the name of the source.
  ///   - failure: what reading throws.
  package init(_ list: [SeedResponse], name: String = "seeds", failing failure: CacheError? = nil) {
    self.name = name
    self.list = list
    self.failure = failure
    newest = list.map(\.response.responseTime).max() ?? Timestamp(seconds: 0)
  }

  package var count: Int { list.count }

  package func responses(to target: String) throws(CacheError) -> [SeedResponse] {
    if let failure { throw failure }
    return list.filter { $0.target == target }
  }

  package func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse] {
    if let failure { throw failure }
    return Array(list.dropFirst(position).prefix(limit))
  }

  /// A response with status 200 to a GET without fields.
  ///
  /// - Parameters:
  ///   - target: a normalised target URI.
  ///   - time: when it was received.
  ///   - isDamaged: whether reading the body throws.
  package static func seed(
    _ target: String, fields: HTTPFields = [:], text: String = "", at time: Timestamp,
    isDamaged: Bool = false
  ) -> SeedResponse? {
    let request = HTTPRequest(method: .get, scheme: "https", authority: "seed.example", path: "/")
    let received = ReceivedResponse(
      HTTPResponse(status: .ok, headerFields: fields), requestTime: time, responseTime: time)
    guard
      let response = try? StoredResponse.make(
        request: request, response: received, isDecoded: false, rules: CacheRules(), digest: { _ in nil })
    else { return nil }
    let bytes = BodyBytes(Array(text.utf8))
    return SeedResponse(
      target: target, response: response, bodyLength: Int64(bytes.count),
      body: Body(bytes, isDamaged: isDamaged), bodyPath: nil)
  }
}
