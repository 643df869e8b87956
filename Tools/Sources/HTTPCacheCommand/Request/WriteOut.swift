import ArgumentParser
import Foundation
import HTTPCaching

/// The text that `-w` writes after a transfer.
struct WriteOut: Sendable {
  /// The variables of a format: those of curl, and the outcome of the cache.
  enum Variable: String, CaseIterable {
    case cacheStatus = "cache_status"
    case cacheStored = "cache_stored"
    case contentType = "content_type"
    case errorMessage = "errormsg"
    case exitCode = "exitcode"
    case fileName = "filename_effective"
    case headers = "header_json"
    case status = "http_code"
    case json
    case method
    case redirects = "num_redirects"
    case retries = "num_retries"
    case responseCode = "response_code"
    case scheme
    case size = "size_download"
    case speed = "speed_download"
    case time = "time_total"
    case url
    case effectiveURL = "url_effective"
  }

  /// Facts about a transfer that its report does not have.
  struct Transfer: Sendable {
    let report: TransferReport
    let method: HTTPRequest.Method
    let exitStatus: ExitStatus
    let retries: Int
  }

  private enum Part: Sendable {
    case text(String)
    case variable(Variable)
    case field(HTTPField.Name)
    /// `%{stdout}`, `%{stderr}`.
    case output(isError: Bool)
  }

  private let parts: [Part]

  /// Reads a format.
  ///
  /// - Parameter format: the text, or `@FILE`.
  /// - Throws: `ValidationError` for an unknown name, or a file that cannot be read.
  init(_ format: String) throws {
    let text =
      format.hasPrefix("@")
      ? String(decoding: try InputFile.contents(format.dropFirst()), as: UTF8.self) : format
    var parts: [Part] = []
    var rest = text[...]
    while let character = rest.popFirst() {
      switch (character, rest.first) {
      case ("%", "%"?):
        rest.removeFirst()
        parts.append(.text("%"))
      case ("%", "{"?): parts.append(try Self.named(Self.braced(&rest) ?? ""))
      case ("%", _) where rest.hasPrefix("header{"):
        rest = rest.dropFirst("header".count)
        guard let name = Self.braced(&rest).flatMap({ HTTPField.Name($0) }) else {
          throw ValidationError("--write-out: %header{…} requires the name of a field")
        }
        parts.append(.field(name))
      case ("\\", let escaped?):
        rest.removeFirst()
        parts.append(.text(["n": "\n", "t": "\t", "r": "\r"][escaped] ?? "\\\(escaped)"))
      default: parts.append(.text(String(character)))
      }
    }
    self.parts = parts
  }

  /// Writes the text of a transfer.
  func write(_ transfer: Transfer) {
    var isError = false
    for part in parts {
      let text: String
      switch part {
      case .output(let goesToError):
        isError = goesToError
        continue
      case .text(let plain): text = plain
      case .variable(let variable): text = transfer.text(variable)
      case .field(let name): text = transfer.answer?.head.headerFields[name] ?? ""
      }
      if isError { Console.current.error(text) } else { Console.current.output(text) }
    }
  }

  private static func named(_ name: String) throws -> Part {
    switch name {
    case "stdout": return .output(isError: false)
    case "stderr": return .output(isError: true)
    default: break
    }
    guard let variable = Variable(rawValue: name) else {
      throw ValidationError(
        "--write-out: %{\(name)} is not known; known are "
          + Variable.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return .variable(variable)
  }

  /// The text in braces.
  private static func braced(_ rest: inout Substring) -> String? {
    guard rest.first == "{", let end = rest.firstIndex(of: "}") else { return nil }
    let text = rest[rest.index(after: rest.startIndex)..<end]
    rest = rest[rest.index(after: end)...]
    return String(text)
  }
}

extension WriteOut.Transfer {
  /// The response; nil if there is none.
  var answer: TransferReport.Answer? {
    if case .answered(let answer) = report.ending { answer } else { nil }
  }

  /// A variable as text.
  func text(_ variable: WriteOut.Variable) -> String {
    switch variable {
    case .json: json(Dictionary(uniqueKeysWithValues: values.map { ($0.rawValue, Erased(value: $1)) }))
    case .headers: json(headers)
    case .status, .responseCode:
      // Always three digits, because scripts compare the text.
      String(format: "%03d", answer?.status ?? 0)
    case .time: String(format: "%.6f", seconds)
    default: plain(values.first { $0.0 == variable }?.1)
    }
  }

  private var seconds: Double { report.elapsed / .seconds(1) }

  private var values: [(WriteOut.Variable, any Encodable & Sendable)] {
    let answer = answer
    let outcome = answer?.outcomeText
    let url = effectiveURL
    let bytes = answer?.transferred ?? 0
    let code = answer?.status ?? 0
    return [
      (.cacheStatus, outcome?.word ?? "error"), (.cacheStored, outcome?.isStored ?? false),
      (.contentType, answer?.head.headerFields[.contentType] ?? ""), (.errorMessage, failure),
      (.exitCode, exitStatus.rawValue), (.fileName, answer?.file ?? ""), (.status, code),
      (.method, method.rawValue), (.redirects, answer?.redirects ?? 0), (.retries, retries),
      (.responseCode, code), (.scheme, String(url.prefix { $0 != ":" }).uppercased()), (.size, bytes),
      (.speed, seconds > 0 ? Int64(Double(bytes) / seconds) : 0), (.time, seconds),
      (.url, report.url), (.effectiveURL, url),
    ]
  }

  /// The URL that answered; without a redirect with the fragment of the URL that was asked for, as in curl.
  private var effectiveURL: String {
    guard let answer else { return report.url }
    guard answer.redirects == 0, let start = report.url.firstIndex(of: "#") else { return answer.finalTarget }
    return answer.finalTarget + report.url[start...]
  }

  private var failure: String {
    if case .failed(let failure) = report.ending { failure.message } else { "" }
  }

  /// The fields by lower-case name, each with all its values.
  private var headers: [String: [String]] {
    Dictionary(
      (answer?.head.headerFields ?? [:]).map { ($0.name.canonicalName, [$0.value]) }, uniquingKeysWith: +)
  }

  private func plain(_ value: (any Encodable & Sendable)?) -> String { value.map { "\($0)" } ?? "" }

  private func json(_ value: some Encodable) -> String { (try? Console.json(value)) ?? "{}" }
}

/// A value of any type in one object of JSON.
private struct Erased: Encodable {
  let value: any Encodable & Sendable

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
