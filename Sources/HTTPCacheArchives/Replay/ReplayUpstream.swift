import Foundation
import HTTPCacheFiles
import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPCaching
public import HTTPTypes
import Synchronization

/// An origin that answers from a recording, a HAR file, also compressed with gzip, and can make one without compression:
/// record once, replay always.
///
/// ```swift
/// let origin = try ReplayUpstream(path: "fixtures/api.har")
/// let response = try await cache.respond(to: request, via: origin)
/// ```
///
/// A request is found by method and target, its content, and the fields of `matching`. Of several recorded responses
/// to one request each is given once, in their order; then the last one again and again. Recorded `Date` fields stay,
/// so that a cache in front of it finds old responses stale; inject a clock if that matters.
///
/// A response whose body did not come whole is not recorded, nor is one whose body is longer than what is left of
/// `recordingLimit`, nor a request with more than 16 MiB of content; with longer content of unknown length it fails.
public final class ReplayUpstream: Upstream {
  private static let longestContent = 16 << 20

  /// How requests are treated.
  public let mode: ReplayMode
  private let matching: ReplayMatching
  private let secrets: RecordingSecrets
  private let origin: (any Upstream)?
  private let recording: Mutex<ReplayRecording>
  private let recorder: HARRecorder?
  private let clock: any CacheClock

  /// Opens a recording.
  ///
  /// - Parameters:
  ///   - path: a HAR file. The modes that record make it if it does not exist.
  ///   - mode: how requests are treated.
  ///   - matching: the parts of a request that must be equal, beside method and target.
  ///   - secrets: parts of requests and responses that are not recorded.
  ///   - origin: where requests go that are not answered from the recording; every mode except `replay` needs it.
  ///   - recordingLimit: the maximum number of bytes of all recorded bodies together; by default 1 GiB.
  ///   - clock: the source of the recorded times.
  /// - Throws: `CacheError.unavailable` if there is no file to replay or the file cannot be made, `CacheError.damaged` if
  ///   the file is not a HAR file, `CacheError.tooLarge` if it unpacks to more than 64 MiB and 50 times its length,
  ///   `CacheError.invalidRequest` for a mode that needs an origin without one and for a recording with the extension
  ///   `gz`; `CacheError.noSpace`, `CacheError.io`.
  public init(
    path: String, mode: ReplayMode = .replay, matching: ReplayMatching = ReplayMatching(),
    secrets: RecordingSecrets = RecordingSecrets(), origin: (any Upstream)? = nil,
    recordingLimit: Int64 = 1 << 30, clock: any CacheClock = SystemClock()
  ) throws(CacheError) {
    guard !mode.usesOrigin || origin != nil else {
      throw CacheError(.invalidRequest, "the mode \(mode.rawValue) needs an origin")
    }
    self.mode = mode
    self.matching = matching
    self.secrets = secrets
    self.origin = mode.usesOrigin ? origin : nil
    self.clock = clock
    var recording = ReplayRecording(name: path)
    let isThere = FileManager.default.fileExists(atPath: path)
    if mode != .recordAll, mode != .recordMissing || isThere {
      guard isThere else { throw CacheError(.unavailable, "there is no recording \(path)") }
      recording = try ReplayRecording(try CacheFile(path: path), name: path, secrets: secrets)
    }
    self.recording = Mutex(recording)
    let isRecording = mode == .recordMissing || mode == .recordAll
    guard !isRecording || !path.lowercased().hasSuffix(".gz") else {
      throw CacheError(.invalidRequest, "\(path): a recording is written without compression")
    }
    // The file is written at the end, when it is too late to name another one.
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard !isRecording || FileManager.default.isWritableFile(atPath: folder) else {
      throw CacheError(.unavailable, "cannot make \(path): the folder is not there or cannot be written")
    }
    // A pipe or a folder is not replaced.
    if isRecording { _ = try ReplacedFile(path: path) }
    recorder =
      isRecording ? HARRecorder(path: path, keepsEarlier: mode == .recordMissing, limit: recordingLimit) : nil
  }

  /// The origin's; unknown without one.
  public var defaultTimeout: Duration? { origin?.defaultTimeout }

  /// The recorded requests that were not asked for, as method and target.
  public var unusedRequests: [String] { recording.withLock { $0.unusedRequests } }

  /// The number of responses that were not recorded because of the limit of the recording.
  public var leftOut: Int { recorder?.leftOut ?? 0 }

  /// Answers a request.
  ///
  /// - Throws: `UpstreamError.Kind.unreachable` with the cause `NotRecorded` in the mode `replay` for a request that is
  ///   not recorded; the message names the recorded request that comes nearest. Otherwise what the origin throws.
  public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let (request, content) = try await Self.collected(request)
    let asked = try asked(request.head, content)
    if let exchange = recording.withLock({ $0.response(to: asked, matching) }) {
      return Self.response(exchange)
    }
    guard let origin else {
      let (name, nearest, lacksBody) = recording.withLock {
        ($0.name, $0.nearest(to: asked, matching), $0.lacksBody(of: asked))
      }
      if lacksBody {
        throw UpstreamError(
          .unreachable, "\(name) has a response to \(asked.name) without its body", cause: NotRecorded())
      }
      throw UpstreamError(
        .unreachable,
        "\(name) has no response to \(asked.name)" + (nearest.map { "; nearest is \($0)" } ?? ""),
        cause: NotRecorded())
    }
    let sent = clock.now
    var response = try await origin.send(request)
    if let recorder, let content, let copy = try? CacheFile.temporary() {
      let entry = entry(
        asked, type: request.head.headerFields[.contentType], content: content, response: response,
        times: (sent, clock.now))
      response.body = MessageBody(
        RecordedBodySource(response.body.source, copy: copy, of: entry, to: recorder))
    }
    return response
  }

  /// Writes what was recorded. Without a mode that records, it does nothing.
  ///
  /// - Returns: the number of exchanges that were added.
  /// - Throws: `CacheError.io`, `CacheError.noSpace`; the file is then as it was before.
  @discardableResult
  public func finish() async throws(CacheError) -> Int { try await recorder?.finish() ?? 0 }

  // MARK: Requests

  private func asked(_ head: HTTPRequest, _ content: BodyBytes?) throws(UpstreamError) -> ReplayRequest {
    guard let target = CacheKey.target(of: head) else {
      throw UpstreamError(.protocol, "the request has no http or https URL")
    }
    let content = content ?? BodyBytes()
    return ReplayRequest(
      method: head.method.rawValue, target: secrets.removed(from: target), fields: head.headerFields,
      content: ReplayRequest.Content(content),
      parameters: ReplayRequest.parameters(of: content, type: head.headerFields[.contentType]))
  }

  /// The request with its content in memory; without content if it is too long, then only its start is read.
  private static func collected(
    _ request: UpstreamRequest
  ) async throws(UpstreamError) -> (UpstreamRequest, BodyBytes?) {
    guard let body = request.body else { return (request, BodyBytes()) }
    if let length = body.length, length > Int64(longestContent) { return (request, nil) }
    do {
      let bytes = try await body.collect(upTo: longestContent)
      var request = request
      request.body = MessageBody(bytes, trailers: body.trailers)
      return (request, bytes)
    } catch let error as UpstreamError {
      throw error
    } catch {
      throw UpstreamError(
        error is CancellationError ? .cancelled : .protocol,
        "the content of the request cannot be read: \(error)",
        cause: error)
    }
  }

  private static func response(_ exchange: ReplayRecording.Exchange) -> UpstreamResponse {
    let length = exchange.isDecoded ? nil : exchange.head.headerFields[.contentLength].flatMap { Int64($0) }
    let isHead = exchange.request.method == "HEAD"
    return UpstreamResponse(
      head: exchange.head,
      body: isHead ? .empty : MessageBody(ReplayBodySource(exchange.body, length: length)),
      isContentDecoded: exchange.isDecoded)
  }

  private func entry(
    _ asked: ReplayRequest, type: String?, content: BodyBytes, response: UpstreamResponse,
    times: (sent: Timestamp, received: Timestamp)
  ) -> HAREntry {
    var head = response.head
    head.headerFields = secrets.removed(from: head.headerFields)
    var entry = HAREntry(
      method: asked.method, target: asked.target, request: secrets.removed(from: asked.fields),
      response: head,
      times: (times.sent.seconds, times.received.seconds))
    let isCoded = head.headerFields.contains(.contentEncoding) && !response.isContentDecoded
    entry.response.content?.isCoded = isCoded ? true : nil
    if !content.isEmpty {
      let text = String(validating: content.array, as: UTF8.self)
      entry.request.postData = HAREntry.PostData(
        mimeType: type ?? "", text: text ?? Data(content.array).base64EncodedString(),
        encoding: text == nil ? "base64" : nil)
    }
    return entry
  }
}

/// How a `ReplayUpstream` treats requests.
public enum ReplayMode: String, Sendable, Hashable, CaseIterable {
  /// Recorded requests are answered from the recording; any other fails.
  case replay
  /// Recorded requests are answered from the recording; any other goes to the origin, and is not recorded.
  case replayElseForward
  /// Recorded requests are answered from the recording; any other goes to the origin and is added to the recording.
  case recordMissing
  /// Every request goes to the origin; the recording is replaced.
  case recordAll

  /// Whether requests go to the origin.
  var usesOrigin: Bool { self != .replay }
}

/// The parts of a request that must be equal for a recorded response to answer it, beside method and target.
public struct ReplayMatching: Sendable, Hashable {
  /// Names of fields.
  public var fields: [HTTPField.Name]
  /// Whether the content must be equal.
  public var comparesContent: Bool

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - fields: names of fields that must be equal; a field that is missing in both is equal.
  ///   - comparesContent: whether the content must be equal, byte by byte. Where the recording has a form only as a list of
  ///     parameters, the decoded names and values must be equal.
  public init(fields: [HTTPField.Name] = [], comparesContent: Bool = true) {
    self.fields = fields
    self.comparesContent = comparesContent
  }
}
