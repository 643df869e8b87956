import Foundation
import HTTPCaching

/// How the options handle a response before its body is written.
struct ResponseHandling: Sendable {
  /// Whether to remove the content coding.
  var decodes = false
  /// Whether `Content-Disposition` names the file.
  var usesHeaderName = false
  /// Whether a file gets the time of the representation (`Last-Modified`).
  var usesRemoteTime = true
  /// Receives the heads of responses from the store; nil if heads are not shown.
  var tell: (@Sendable (String) -> Void)?

  /// The response and the destination to write to; with `-J` the head names the file.
  ///
  /// - Throws: `OutputFailure` if the file that the origin names exists: an origin must not choose a file to
  ///   overwrite; `UpstreamError` for more content codings than are removed.
  func prepared(
    _ response: CacheResponse, of request: HTTPRequest, for destination: Output.Destination
  ) throws -> (CacheResponse, Output.Destination) {
    if let tell, isFromStore(response.outcome) {
      tell("* from the cache\n" + VerboseUpstream.text(response.head))
    }
    var response = response
    if decodes {
      for coding in try codings(of: response, to: request).reversed() {
        response.body = MessageBody(try DecodedSource(response.body.source, from: coding))
      }
    }
    guard usesHeaderName, case .file(let path) = destination,
      let name = ContentDisposition.fileName(response.head.headerFields)
    else { return (response, destination) }
    let named = OutputPlace.folder(of: path) + name
    var status = stat()
    // A dangling link counts as an existing file.
    if named != path, lstat(named, &status) == 0 {
      response.body.source.cancel()
      throw OutputFailure.taken(named)
    }
    return (response, .file(named))
  }

  private func isFromStore(_ outcome: CacheOutcome) -> Bool {
    switch outcome {
    case .hit, .validated: true
    case .forwarded, .shared, .unsatisfiable: false
    }
  }

  /// The codings to remove, in the order in which they were applied. Some servers announce a coding for files that have it
  /// themselves; these must stay unchanged.
  ///
  /// - Throws: `UpstreamError` for more codings than the limit.
  private func codings(of response: CacheResponse, to request: HTTPRequest) throws -> [ContentCoding] {
    let fields = response.head.headerFields
    guard request.method != .head, response.head.status.code != 206,
      let codings = fields[.contentEncoding].flatMap(ContentCoding.all(in:)), let first = codings.first
    else { return [] }
    guard codings.count <= ContentCoding.limit else {
      throw UpstreamError(
        .protocol,
        "the body has \(codings.count) content codings, more than the limit of \(ContentCoding.limit); "
          + "--no-compressed leaves them", cause: TooManyCodings(count: codings.count))
    }
    let path = String(response.finalTarget.prefix { $0 != "?" })
    let type = String(fields[.contentType]?.prefix { $0 != ";" } ?? "")
    return first.isOfFile(path: path, type: type) ? Array(codings.dropFirst()) : codings
  }
}
