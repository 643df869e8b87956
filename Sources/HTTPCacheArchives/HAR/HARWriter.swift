import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// Writes responses as a HAR file (HAR 1.2), which browsers' developer tools and `RecordingSeed` read.
///
/// A body in a content coding is written as it is, in Base64, and marked `_isCoded`: other programs expect the
/// decoded body.
public enum HARWriter {
  /// Writes all responses of a source. The file appears under its name when it is complete; an existing file is then
  /// replaced.
  ///
  /// - Returns: the number of responses written.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.cancelled`, what reading the source throws.
  @discardableResult
  public static func write(_ source: any SeedSource, to path: String) async throws(CacheError) -> Int {
    let new = try ReplacedFile(path: path)
    var output = try HAROutput(new.file)
    var count = 0
    while true {
      let page = try source.responses(from: count, limit: 64)
      for seed in page {
        for target in [seed.target] + seed.otherTargets {
          try await output.add(
            HAREntry(seed, to: target), body: try seed.body.open(), length: seed.bodyLength)
        }
      }
      count += page.count
      if page.isEmpty { break }
    }
    try output.finish()
    try new.finish()
    return count
  }
}

extension HAREntry {
  /// Names and values of fields.
  static func pairs(_ fields: HTTPFields) -> [Pair] {
    fields.map { Pair(name: $0.name.rawName, value: $0.text) }
  }

  /// The exchange of a stored response, without its body.
  ///
  /// - Parameter target: one of the targets that it answers.
  init(_ seed: SeedResponse, to target: String) {
    let response = seed.response
    var request: HTTPFields = [:]
    for field in response.nominated {
      if case .text(let value) = field.value {
        request[fields: field.name] = [HTTPField(name: field.name, value: value)]
      }
    }
    self.init(
      method: "GET", target: target, request: request, response: response.head,
      times: (response.requestTime.seconds, response.responseTime.seconds))
    self.response.content?.isCoded = response.head.headerFields.contains(.contentEncoding) ? true : nil
  }

  /// An exchange without bodies.
  init(
    method: String, target: String, request: HTTPFields, response: HTTPResponse,
    times: (requested: Int64, received: Int64)
  ) {
    let seconds = Timestamp(seconds: times.received) - Timestamp(seconds: times.requested)
    let wait = Double(max(0, seconds)) * 1_000
    startedDateTime = RecordedTime.text(times.requested, hasFraction: true)
    time = wait
    self.request = Request(
      method: method, url: target, httpVersion: "HTTP/1.1", headers: Self.pairs(request),
      queryString: Self.query(target), cookies: [], headersSize: -1, bodySize: -1)
    self.response = Response(
      status: response.status.code, statusText: response.status.reasonPhrase, httpVersion: "HTTP/1.1",
      headers: Self.pairs(response.headerFields), cookies: [],
      content: Content(mimeType: response.headerFields[.contentType] ?? "x-unknown"),
      redirectURL: response.headerFields[.location] ?? "", headersSize: -1, bodySize: -1)
    cache = Cache()
    timings = Timings(send: 0, wait: wait, receive: 0)
  }

  /// The parameters of the query, as HAR lists them beside the URL.
  private static func query(_ target: String) -> [Pair] {
    guard let mark = target.firstIndex(of: "?") else { return [] }
    return target[target.index(after: mark)...].split(separator: "&").map {
      let parts = $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return Pair(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
    }
  }
}

extension HTTPField {
  /// The value as text, for JSON. A value that is not UTF-8 is read as ISO 8859-1.
  var text: String {
    withUnsafeBytesOfValue { bytes in
      String(validating: bytes, as: UTF8.self)
        ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
  }
}
