import HTTPCacheSemantics
import HTTPTypes

/// Plays one test of the public suite against a simulated cache and a scripted origin.
struct ConformanceRun {
  private static let dates: Set<String> = [
    "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since",
  ]

  let script: ConformanceScript
  private var cache: SimulatedCache
  private var served = 0
  private var sent: [HTTPRequest] = []
  private var made: [Int: HTTPFields] = [:]

  init(_ script: ConformanceScript, mode: CacheMode) {
    self.script = script
    cache = SimulatedCache(
      rules: CacheRules(mode: mode, targetedFields: mode == .shared ? ["CDN-Cache-Control"] : []),
      now: today)
  }

  /// Why it did not pass, nil if it did.
  mutating func failure() throws -> String? {
    var exchangeTime = today
    for (offset, step) in script.requests.enumerated() {
      let number = offset + 1
      let before = sent.count
      let request = try request(step, number: number, since: exchangeTime)
      exchangeTime = cache.now
      var origin = self
      let answer = try cache.respond(to: request) { origin.answer($0, number: number) }
      served = origin.served
      made = origin.made
      sent = origin.sent
      if let failure = check(step, number: number, answer, sent: sent.dropFirst(before).first) {
        return "step \(number): \(failure)"
      }
      if step.pause_after == true { cache.now = cache.now.adding(3) }
    }
    return nil
  }

  private func request(
    _ step: ConformanceScript.Step, number: Int, since time: Timestamp
  ) throws -> HTTPRequest {
    var fields = HTTPFields()
    if cache.rules.mode == .shared {
      fields.append(HTTPField(name: .cacheControl, value: "nothing-to-see-here"))
    }
    for field in step.request_headers ?? [] {
      guard let name = HTTPField.Name(field.name) else { continue }
      let value = text(field, step: step, now: time)
      // Fetch joins repeated fields.
      fields[name] = fields[name].map { $0 + ", " + value } ?? value
    }
    let modes = [
      "no-cache": "max-age=0", "no-store": "no-store", "reload": "no-cache",
      "force-cache": "max-stale", "only-if-cached": "max-stale, only-if-cached",
    ]
    if let mode = step.cache.flatMap({ modes[$0] }), !fields.contains(.cacheControl) {
      fields[.cacheControl] = mode
    }
    if let name = HTTPField.Name("Req-Num") { fields[name] = String(number) }
    let path =
      "/test/x" + (step.filename.map { "/" + $0 } ?? "") + (step.query_arg.map { "?" + $0 } ?? "")
    return HTTPRequest(
      method: step.request_method.flatMap { HTTPRequest.Method($0) } ?? .get, scheme: "http",
      authority: "127.0.0.1", path: path, headerFields: fields)
  }

  private func text(
    _ field: ConformanceScript.Field, step: ConformanceScript.Step, now: Timestamp
  ) -> String {
    switch field.parts.first {
    case .number(let seconds) where Self.dates.contains(field.name.lowercased()):
      return now.adding(seconds).httpDate
    case .number(let number): return String(number)
    case .text(let text) where step.magic_locations == true && isLocation(field.name):
      return text.isEmpty ? "/test/x" : "/test/x/" + text
    case .text(let text): return text
    default: return ""
    }
  }

  private func isLocation(_ name: String) -> Bool {
    ["location", "content-location"].contains(name.lowercased())
  }

  /// Makes the origin's answer to its next request, and records the request.
  private mutating func answer(_ request: HTTPRequest, number: Int) -> SimulatedCache.Answer? {
    let step = script.requests[number - 1]
    sent.append(request)
    served += 1
    var fields = made[number] ?? concrete(step)
    made[number] = fields
    if step.disconnect == true { return nil }
    for (name, value) in [
      ("Server-Request-Count", served), ("Client-Request-Count", number),
      ("Server-Now", Int(cache.now.seconds)),
    ] {
      if let name = HTTPField.Name(name) { fields[name] = String(value) }
    }
    if !fields.contains(.date) { fields[.date] = cache.now.httpDate }
    var status = 200
    if case .number(let code) = step.response_status?.first { status = Int(code) }
    if step.expected_type == "etag_validated" || step.expected_type == "lm_validated" {
      status = validates(request, made[number - 1] ?? concrete(script.requests[number - 2])) ? 304 : 999
    }
    let body = status == 304 || status == 204 ? "" : step.response_body ?? "body"
    return SimulatedCache.Answer(
      head: HTTPResponse(status: .init(code: status), headerFields: fields),
      body: request.method == .head ? "" : body)
  }

  private func concrete(_ step: ConformanceScript.Step) -> HTTPFields {
    var fields = HTTPFields()
    for field in step.response_headers ?? [] {
      guard let name = HTTPField.Name(field.name) else { continue }
      fields.append(HTTPField(name: name, value: text(field, step: step, now: cache.now)))
    }
    return fields
  }

  private func validates(_ request: HTTPRequest, _ before: HTTPFields) -> Bool {
    for (name, condition) in [
      (HTTPField.Name.eTag, HTTPField.Name.ifNoneMatch), (.lastModified, .ifModifiedSince),
    ] where before.contains(name) && request.headerFields[condition] == before[name] {
      return true
    }
    return false
  }

  private func check(
    _ step: ConformanceScript.Step, number: Int, _ answer: SimulatedCache.Answer,
    sent request: HTTPRequest?
  ) -> String? {
    let fields = answer.head.headerFields
    let count = HTTPField.Name("Server-Request-Count").flatMap { fields[$0] }.flatMap { Int($0) }
    let code = answer.head.status.code
    if step.expected_type == "cached", code != 304 || count != nil, (count ?? number) >= number {
      return "not from the store"
    }
    if step.expected_type == "not_cached", count != number { return "from the store" }
    var wanted: Int? = 200
    if case .number(let status) = step.response_status?.first { wanted = Int(status) }
    if let status = step.expected_status { wanted = status }
    if step.anyStatus { wanted = nil }
    if let wanted, wanted != code { return "status \(code), wanted \(wanted)" }
    for field in step.expected_response_headers ?? [] {
      guard let name = HTTPField.Name(field.name) else { continue }
      if let failure = compare(field, fields[name], step: step, fields) { return failure }
    }
    for field in step.expected_response_headers_missing ?? [] {
      if let name = HTTPField.Name(field.name), fields.contains(name), field.parts.isEmpty {
        return "has \(name)"
      }
    }
    if let text = step.expected_response_text ?? step.response_body, step.check_body != false,
      text != answer.body, code != 304
    {
      return "body \(answer.body), wanted \(text)"
    }
    for field in step.expected_request_headers ?? [] {
      guard let name = HTTPField.Name(field.name) else { continue }
      guard let request else { return "the origin did not see it" }
      let value = request.headerFields[name]
      if case .text(let wanted) = field.parts.first, value != wanted {
        return "the origin saw \(name): \(value ?? "nothing")"
      }
    }
    return nil
  }

  private func compare(
    _ field: ConformanceScript.Field, _ value: String?, step: ConformanceScript.Step,
    _ fields: HTTPFields
  ) -> String? {
    guard let value else { return "no \(field.name)" }
    if field.parts.isEmpty { return nil }
    if case .text(">") = field.parts.first, field.parts.count == 2 {
      guard case .number(let least) = field.parts[1], let number = Int64(value), number > least
      else { return "\(field.name): \(value)" }
      return nil
    }
    if case .text("=") = field.parts.first, field.parts.count == 2 {
      guard case .text(let other) = field.parts[1], let name = HTTPField.Name(other),
        fields[name] == value
      else { return "\(field.name): \(value)" }
      return nil
    }
    let now = HTTPField.Name("Server-Now").flatMap { fields[$0] }.flatMap { Int64($0) } ?? 0
    let wanted = text(field, step: step, now: Timestamp(seconds: now))
    return wanted == value ? nil : "\(field.name): \(value), wanted \(wanted)"
  }
}
