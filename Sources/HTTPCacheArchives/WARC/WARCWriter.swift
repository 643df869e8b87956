import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// Writes responses as a WARC file (WARC 1.1), which web archives and `RecordingSeed` read: for each a `response` record
/// and a `request` record with the fields that `Vary` names, and for each other target a `revisit` record.
///
/// Equal responses in equal order make equal files: the identifiers of records follow from their content.
public enum WARCWriter {
  /// Writes all responses of a source. The file appears under its name when it is complete; an existing file is then
  /// replaced.
  ///
  /// - Parameters:
  ///   - source: the responses.
  ///   - path: the file to write; with the extension `gz`, each record is compressed with gzip.
  /// - Returns: the number of responses written.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`, `CacheError.cancelled`, what reading the source throws.
  @discardableResult
  public static func write(_ source: any SeedSource, to path: String) async throws(CacheError) -> Int {
    let new = try ReplacedFile(path: path)
    let output = try WARCOutput(new.file, isCompressed: path.hasSuffix(".gz"))
    try output.information()
    var count = 0
    while true {
      let page = try source.responses(from: count, limit: 64)
      for (index, seed) in page.enumerated() { try await add(seed, number: count + index, to: output) }
      count += page.count
      if page.isEmpty { break }
    }
    try new.finish()
    return count
  }

  private static func add(
    _ seed: SeedResponse, number: Int, to output: borrowing WARCOutput
  ) async throws(CacheError) {
    let response = seed.response
    let status = response.head.status
    var head = Array("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n".utf8)
    for field in response.head.headerFields {
      head += Array("\(field.name.rawName): ".utf8)
      field.withUnsafeBytesOfValue { head += $0 }
      head += Array("\r\n".utf8)
    }
    if !response.head.headerFields.contains(.contentLength) {
      head += Array("Content-Length: \(seed.bodyLength)\r\n".utf8)
    }
    head += Array("\r\n".utf8)
    let name = output.identifier(Array("response \(number) \(seed.target) ".utf8) + head)
    let record = WARCOutput.Record(
      type: "response", id: name, target: seed.target, time: response.responseTime.seconds, head: head,
      bodyLength: seed.bodyLength)
    try await output.add(record, body: try seed.body.open())
    for target in seed.otherTargets {
      let id = output.identifier(Array("revisit \(number) \(target) ".utf8) + head)
      try await output.add(
        WARCOutput.Record(
          type: "revisit", id: id, target: target, time: response.responseTime.seconds, head: head,
          bodyOf: name))
    }

    guard let parts = TargetURI.parts(of: seed.target) else { return }
    var request = "GET \(parts.path) HTTP/1.1\r\nHost: \(parts.authority)\r\n"
    for field in response.nominated {
      if case .text(let value) = field.value { request += "\(field.name.rawName): \(value)\r\n" }
    }
    request += "\r\n"
    try await output.add(
      WARCOutput.Record(
        type: "request", id: output.identifier(Array("request \(number) \(request)".utf8)),
        target: seed.target, time: response.requestTime.seconds, head: Array(request.utf8), concurrent: name))
  }
}
