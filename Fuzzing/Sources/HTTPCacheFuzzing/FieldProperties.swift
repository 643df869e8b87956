import HTTPCacheSemantics
import HTTPTypes

/// The properties of every set of header fields.
enum FieldProperties {
  private static let dates: [HTTPField.Name] = [.date, .expires, .lastModified, .ifModifiedSince]

  static func check(_ fields: HTTPFields, now: Timestamp) throws(PropertyViolation) {
    let forwarded = FieldHygiene.forwardable(fields)
    try require(forwarded.count <= fields.count, "forwards more fields than there were")
    try require(FieldHygiene.forwardable(forwarded) == forwarded, "forwardable fields are not stable")
    for field in fields where dates.contains(field.name) {
      try DateProperties.check(field.value, relativeTo: now)
    }
    if let range = ContentRange(fields) {
      switch range {
      case .part(let part, let length):
        try require(
          part.lowerBound >= 0 && !part.isEmpty && part.upperBound <= length ?? .max,
          "a Content-Range of \(part) of \(length.map(String.init) ?? "*")")
      case .unsatisfied(let length): try require(length >= 0, "a Content-Range of \(length)")
      }
    }
  }

  static func check(
    _ response: HTTPResponse, answering request: HTTPRequest, rules: CacheRules
  ) throws(PropertyViolation) {
    let fields = response.headerFields
    let directives = ResponseDirectives(fields, rules: rules)
    try require(!directives.texts.contains { $0.contains("=-") }, "a negative number: \(directives.texts)")
    let facts = Freshness.facts(
      response: response, requestTime: Timestamp(seconds: .min),
      responseTime: Timestamp(seconds: .max), rules: rules)
    try require(
      facts.freshnessLifetime >= 0 && facts.correctedInitialAge >= 0, "negative facts: \(facts)")
    let stored = FieldHygiene.storable(response, rules: rules)
    try require(stored.headerFields.count <= fields.count, "stores more fields than there were")
    for groups in [
      CacheGroups.names(of: response), CacheGroups.invalidated(request: request, response: response),
    ] {
      try require(groups.count <= CacheGroups.countLimit, "\(groups.count) groups")
      try require(Set(groups).count == groups.count, "a group twice")
    }
    let targets = Invalidation.targets(request: request, response: response)
    let origins = Set(targets.map { TargetURI.origin(of: $0) })
    try require(origins.count <= 1 && targets.count <= 3, "invalidates \(targets)")
    if let key = CacheKey.target(of: request) {
      for name in [HTTPField.Name.location, .contentLocation] {
        for field in fields where field.name == name {
          try URIProperties.check(reference: field.value, against: key)
        }
      }
      guard let parts = TargetURI.parts(of: key) else {
        throw PropertyViolation(description: "the key \(key) has no parts")
      }
      let again = CacheKey.target(
        of: HTTPRequest(
          method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path))
      try require(again == key, "the key \(key) becomes \(again ?? "nil")")
    }
  }
}
