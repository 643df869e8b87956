import Foundation
import HTTPCaching

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
    let url = answer?.finalTarget ?? report.url
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

  private var failure: String {
    if case .failed(let failure) = report.ending { failure.message } else { "" }
  }

  /// The fields by lower-case name, each with all its values.
  private var headers: [String: [String]] {
    Dictionary(
      (answer?.head.headerFields ?? [:]).map { ($0.name.canonicalName, [$0.value]) }, uniquingKeysWith: +)
  }

  private func plain(_ value: (any Encodable & Sendable)?) -> String { value.map { "\($0)" } ?? "" }

  private func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

/// A value of any type in one object of JSON.
private struct Erased: Encodable {
  let value: any Encodable & Sendable

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
