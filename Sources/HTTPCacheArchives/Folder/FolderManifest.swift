import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The file `seeds.jsonl` of a folder: the recorded heads of its responses, one JSON object a line.
enum FolderManifest {
  /// The name of the file in the folder.
  static let name = "seeds.jsonl"
  /// The longest file that is read, in bytes.
  static let longest: Int64 = 256 << 20

  /// One line.
  struct Line: Codable, Sendable {
    /// The target URI that the response answers.
    var target: String
    /// The path of the body below the folder.
    var file: String
    /// The status code.
    var status: Int
    /// When the response was received, in seconds since 1970; nil is when the file was modified.
    var received: Int64?
    /// When the request was sent; nil is `received`.
    var requested: Int64?
    /// Names and values of the response's fields.
    var fields: [[String]]
    /// Names and values of the request's fields that `Vary` names; nil if the response answers every request.
    var request: [[String]]?
  }

  /// A line that was read, with its number.
  struct Entry: Sendable {
    let number: Int
    let line: Line
    let target: String
    let fields: HTTPFields
    let request: HTTPFields?
  }

  /// Reads lines.
  ///
  /// - Throws: `CacheError.damaged` for the first line that is not as described here.
  static func read(_ bytes: [UInt8]) throws(CacheError) -> [Entry] {
    let decoder = JSONDecoder()
    var entries: [Entry] = []
    for (index, text) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    {
      if text.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
      guard text.count <= RecordCodec.longestRecord else { throw damaged(index, "longer than 1 MiB") }
      let line: Line
      do { line = try decoder.decode(Line.self, from: Data(text)) } catch {
        throw damaged(index, "not an object with target, file, status and fields")
      }
      guard let target = TargetURI.normalized(line.target) else {
        throw damaged(index, "the target is not an absolute http or https URL: \(line.target)")
      }
      guard (200...599).contains(line.status), line.status != 206, line.status != 304 else {
        throw damaged(index, "a seed cannot have the status \(line.status)")
      }
      guard let fields = fields(line.fields), let request = Self.fields(line.request ?? []) else {
        throw damaged(index, "a field that HTTP does not allow, or more than \(HTTPFields.countLimit) fields")
      }
      entries.append(
        Entry(
          number: index + 1, line: line, target: target, fields: fields,
          request: line.request == nil ? nil : request))
    }
    return entries
  }

  /// The line of a response.
  ///
  /// - Parameters:
  ///   - target: one of the targets that it answers.
  ///   - file: the path of its body below the folder.
  /// - Throws: `CacheError.io` if the response cannot be written as JSON.
  static func line(of seed: SeedResponse, to target: String, file: String) throws(CacheError) -> [UInt8] {
    let response = seed.response
    var request: [[String]] = []
    for field in response.nominated {
      if case .text(let value) = field.value { request.append([field.name.rawName, value]) }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = Line(
      target: target, file: file, status: response.head.status.code,
      received: response.responseTime.seconds, requested: response.requestTime.seconds,
      fields: response.head.headerFields.map { [$0.name.rawName, $0.text] },
      request: response.nominated.isEmpty ? nil : request)
    do { return Array(try encoder.encode(line)) + [UInt8(ascii: "\n")] } catch {
      throw CacheError(.io, "the head of \(target) cannot be written as JSON", cause: error)
    }
  }

  private static func fields(_ pairs: [[String]]) -> HTTPFields? {
    var fields: HTTPFields = [:]
    for pair in pairs {
      guard pair.count == 2, let name = HTTPField.Name(pair[0]), HTTPField.isValidValue(pair[1]),
        fields.appendBounded(HTTPField(name: name, value: pair[1]))
      else { return nil }
    }
    return fields
  }

  private static func damaged(_ index: Int, _ text: String) -> CacheError {
    CacheError(.damaged, "\(name), line \(index + 1): \(text)")
  }
}
