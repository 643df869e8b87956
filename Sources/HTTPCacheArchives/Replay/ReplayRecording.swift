import Foundation
import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The exchanges of a HAR file, for finding the response to a request. Long bodies stay in the file.
struct ReplayRecording: Sendable {
  /// A recorded response.
  struct Exchange: Sendable {
    let request: ReplayRequest
    let head: HTTPResponse
    let body: HARText
    /// Whether the body was decoded, as HAR has it.
    let isDecoded: Bool
  }

  private var exchanges: [Exchange] = []
  private var numbers: [String: [Int]] = [:]
  private var used: [String: Int] = [:]
  private var unused: Set<Int> = []
  /// The names of requests whose responses lack their bodies in the recording.
  private var lacking: Set<String> = []
  let name: String

  /// An empty recording.
  init(name: String) { self.name = name }

  /// Reads a HAR file, also one that is compressed with gzip.
  ///
  /// - Throws: `CacheError.damaged` if it is not a HAR file, or an entry is not as HAR has it; `CacheError.tooLarge` if it
  ///   unpacks to more than 64 MiB and 50 times its length; `CacheError.noSpace`, `CacheError.io`.
  init(_ file: CacheFile, name: String, secrets: RecordingSecrets) throws(CacheError) {
    self.name = name
    let file = try UnpackedCopy.har(file, name: name)
    var scanner = try HARScanner.open(file, name)
    let decoder = JSONDecoder()
    while let slice = try scanner.next() {
      let entry: HAREntry
      do throws(CacheError) { entry = try slice.entry(decoder) } catch {
        throw CacheError(error.code, "entry \(slice.number) of \(name): \(error.message)")
      }
      guard let target = TargetURI.recorded(entry.request.url), (200...599).contains(entry.response.status)
      else { continue }
      if entry.lacksBody {
        lacking.insert("\(entry.request.method) \(secrets.removed(from: target))")
        continue
      }
      do throws(CacheError) {
        add(try Self.exchange(entry, target: secrets.removed(from: target), slice: slice, of: file))
      } catch {
        throw CacheError(error.code, "entry \(slice.number) of \(name): \(error.message)")
      }
    }
  }

  private static func exchange(
    _ entry: HAREntry, target: String, slice: HARScanner.Slice, of file: CacheFile
  ) throws(CacheError) -> Exchange {
    let posted = entry.request.postData
    var content: BodyBytes?
    var parameters: [FormParameter] = []
    if let text = posted?.text {
      content = try bytes(HARText(text, encoding: posted?.encoding, of: slice, in: file))
    } else {
      for pair in posted?.params ?? [] {
        let value = try bytes(HARText(pair.value, encoding: nil, of: slice, in: file))
        parameters.append(FormParameter(name: Array(pair.name.utf8), value: value.array))
      }
      if parameters.isEmpty { content = BodyBytes() }
    }
    let recorded = entry.response.content
    var fields = try entry.response.fields
    fields[fields: .transferEncoding] = []
    let body = try HARText(recorded, coding: fields[.contentEncoding], of: slice, in: file)
    if fields.contains(.contentLength), entry.request.method != "HEAD" {
      fields[fields: .contentLength] = []
      fields[.contentLength] = String(try body.length())
    }
    return Exchange(
      request: ReplayRequest(
        method: entry.request.method, target: target, fields: try entry.request.fields,
        content: content.map { ReplayRequest.Content($0) }, parameters: parameters),
      head: HTTPResponse(
        status: HTTPResponse.Status(
          code: entry.response.status, reasonPhrase: entry.response.statusText ?? ""),
        headerFields: fields), body: body,
      isDecoded: fields.contains(.contentEncoding) && recorded?.isCoded != true && !body.form.isCoded)
  }

  /// - Throws: `CacheError.damaged` if the text is not in the form that the entry names, `CacheError.io`.
  private static func bytes(_ text: HARText) throws(CacheError) -> BodyBytes {
    var reader = text.reader()
    var pieces: [BodyBytes] = []
    while let piece = try reader.next() { pieces.append(piece) }
    return BodyBytes(joining: pieces)
  }

  private mutating func add(_ exchange: Exchange) {
    numbers[exchange.request.name, default: []].append(exchanges.count)
    unused.insert(exchanges.count)
    exchanges.append(exchange)
  }

  /// The response to a request; nil if none is recorded. Of several for one request, each is given once in their
  /// order, then the last again and again.
  mutating func response(to request: ReplayRequest, _ matching: ReplayMatching) -> Exchange? {
    let equal = (numbers[request.name] ?? []).filter {
      request.accepts(exchanges[$0].head.status.code)
        && request.difference(from: exchanges[$0].request, matching) == nil
    }
    guard let last = equal.last else { return nil }
    let key = equal.map(String.init).joined(separator: " ")
    let turn = used[key, default: 0]
    used[key] = turn + 1
    let number = turn < equal.count ? equal[turn] : last
    unused.remove(number)
    return exchanges[number]
  }

  /// Whether the recording has a response to a request, but not its body.
  func lacksBody(of request: ReplayRequest) -> Bool { lacking.contains(request.name) }

  /// The names of requests that were never asked for.
  var unusedRequests: [String] { unused.sorted().map { exchanges[$0].request.name } }

  /// The recorded request that comes nearest to one that is not recorded.
  func nearest(to request: ReplayRequest, _ matching: ReplayMatching) -> String? {
    let ranked = exchanges.lazy.map(\.request).map { other in (other, Self.distance(request, other)) }
    guard let (other, _) = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
    return "\(other.name) (\(request.difference(from: other, matching) ?? "it has a range or a condition"))"
  }

  /// Small for similar requests: the characters that differ, between equal starts and ends of the targets.
  private static func distance(_ one: ReplayRequest, _ other: ReplayRequest) -> Int {
    let (left, right) = (Array(one.target.utf8), Array(other.target.utf8))
    let start = zip(left, right).prefix { $0 == $1 }.count
    let most = min(left.count, right.count) - start
    let end = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
    return max(left.count, right.count) - start - min(end, most) + (one.method == other.method ? 0 : 3)
  }
}
