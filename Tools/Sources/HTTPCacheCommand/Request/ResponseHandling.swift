import Foundation
import HTTPCaching

/// What the options ask to do with a response before its body is written.
struct ResponseHandling: Sendable {
  /// Whether gzip is taken off the body.
  var decodes = false
  /// Whether `Content-Disposition` names the file.
  var usesHeaderName = false
  /// Receives the heads of responses from the store; nil where none are shown.
  var tell: (@Sendable (String) -> Void)?

  /// The response as it is written, and where to.
  ///
  /// - Throws: `Output.Failure` if the file that the origin names is there already: no origin chooses what is
  ///   overwritten.
  func prepared(
    _ response: CacheResponse, of request: HTTPRequest, for destination: Output.Destination
  ) throws -> (CacheResponse, Output.Destination) {
    if let tell, isFromStore(response.outcome) {
      tell("* from the cache\n" + VerboseUpstream.text(response.head))
    }
    var response = response
    if decodes, isDecodable(response, of: request) {
      response.body = MessageBody(try DecodedSource(response.body.source))
    }
    guard usesHeaderName, case .file(let path) = destination,
      let name = ContentDisposition.fileName(response.head.headerFields)
    else { return (response, destination) }
    let named = ReplacedFile.folder(of: path) + name
    var status = stat()
    // A link is there even where it leads to nothing.
    if named != path, lstat(named, &status) == 0 {
      response.body.source.cancel()
      throw Output.Failure(message: "-J does not overwrite \(named): the file exists")
    }
    return (response, .file(named))
  }

  private func isFromStore(_ outcome: CacheOutcome) -> Bool {
    switch outcome {
    case .hit, .validated: true
    case .forwarded, .unsatisfiable: false
    }
  }

  /// Whether a body has gzip that was put on for the way. Servers name gzip for files that are gzip
  /// themselves, too, which are wanted as they are.
  private func isDecodable(_ response: CacheResponse, of request: HTTPRequest) -> Bool {
    let fields = response.head.headerFields
    guard request.method != .head, response.head.status.code != 206,
      let coding = fields[.contentEncoding]?.lowercased(), coding == "gzip" || coding == "x-gzip"
    else { return false }
    let path = response.finalTarget.prefix { $0 != "?" }.lowercased()
    let type = fields[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
    return !path.hasSuffix(".gz") && !path.hasSuffix(".tgz") && !type.contains("gzip")
  }
}
