import HTTPCacheSemantics
import HTTPTypes
import Testing

/// 6 November 2020, 12:00:00 UTC: the day on which most tests happen.
let today = Timestamp(seconds: 1_604_664_000)

/// Stands in for a keyed digest: reverses the octets, so that equal values have equal digests.
let reversing: SecretDigest = { Array($0.utf8.reversed()) }

let privateRules = CacheRules(mode: .private)
let sharedRules = CacheRules(mode: .shared)

func fields(_ pairs: KeyValuePairs<String, String>) throws -> HTTPFields {
  var fields = HTTPFields()
  for (name, value) in pairs {
    fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
  }
  return fields
}

func get(
  _ path: String = "/", method: HTTPRequest.Method = .get,
  _ pairs: KeyValuePairs<String, String> = [:]
) throws -> HTTPRequest {
  HTTPRequest(
    method: method, scheme: "https", authority: "example.com", path: path,
    headerFields: try fields(pairs))
}

func get(_ pairs: KeyValuePairs<String, String>) throws -> HTTPRequest { try get("/", pairs) }

func response(
  _ status: Int = 200, _ pairs: KeyValuePairs<String, String> = [:]
) throws -> HTTPResponse {
  HTTPResponse(status: .init(code: status), headerFields: try fields(pairs))
}

/// The stored response of an exchange of today.
func stored(
  _ status: Int = 200, _ pairs: KeyValuePairs<String, String> = [:],
  to request: HTTPRequest? = nil, rules: CacheRules = privateRules, at time: Timestamp = today,
  isDecoded: Bool = false
) throws -> StoredResponse {
  try StoredResponse.make(
    request: try request ?? get(),
    response: ReceivedResponse(try response(status, pairs), requestTime: time, responseTime: time),
    isDecoded: isDecoded, rules: rules, digest: reversing)
}

/// Decides about `stored` for a request that comes `after` seconds later.
func decide(
  _ stored: StoredResponse, after seconds: Int64, _ pairs: KeyValuePairs<String, String> = [:],
  method: HTTPRequest.Method = .get, policy: CachePolicy = .standard,
  rules: CacheRules = privateRules
) throws -> ReuseDecision {
  let request = try get(method: method, pairs)
  return Reuse.decide(
    stored: stored, request: request, directives: RequestDirectives(request.headerFields),
    policy: policy, rules: rules, now: stored.responseTime.adding(seconds))
}

/// The fallback of `stored` if the origin fails `after` seconds later.
func fallback(
  _ stored: StoredResponse, after seconds: Int64, _ failure: FailureKind = .unreachable,
  _ pairs: KeyValuePairs<String, String> = [:], policy: CachePolicy = .standard,
  rules: CacheRules = privateRules
) throws -> FailureFallback {
  let request = try get(pairs)
  return Reuse.afterFailure(
    stored: stored, request: request, policy: policy, rules: rules, now: stored.responseTime.adding(seconds),
    failure: failure)
}

/// The decision about storing a response.
func storing(
  _ status: Int = 200, _ pairs: KeyValuePairs<String, String> = [:],
  to request: HTTPRequest? = nil, rules: CacheRules = privateRules
) throws -> StorageDecision {
  Storability.decide(
    request: try request ?? get(), response: try response(status, pairs), rules: rules, now: today)
}

/// The decision about storing a 200.
func storing(
  _ pairs: KeyValuePairs<String, String>, to request: HTTPRequest? = nil,
  rules: CacheRules = privateRules
) throws -> StorageDecision {
  try storing(200, pairs, to: request, rules: rules)
}
