import HTTPCacheTesting
import HTTPCaching
import Testing

/// Random requests for a resource with languages and codings, over an origin that tags it well or badly.
@Suite(
  "No answer carries a variant of other fields, whatever the origin's tags are (RFC 9111 §4.1)",
  .timeLimit(.minutes(10)))
struct VariantPropertyTests {
  enum Tagging: CaseIterable, Sendable {
    /// A strong tag for each representation.
    case strong
    /// A weak tag for each representation.
    case weak
    /// One weak tag for all representations of a version, as many frameworks have it.
    case sharedWeak
    /// No tags, one date for all representations of a version.
    case dates
    /// One strong tag for all codings, against RFC 9110 §8.8.3.3.
    case sharedStrong
  }

  /// A response of the origin: a version in a language and a coding.
  struct Representation: Equatable, Sendable {
    let version: Int
    let language: String
    let coding: String

    var text: String { "\(version) \(language) \(coding)" }

    func fields(_ tagging: Tagging) -> HTTPFields {
      var fields: HTTPFields = [
        .cacheControl: version % 3 == 0 ? "no-cache" : "max-age=10, stale-while-revalidate=5",
        .vary: "Accept-Language, Accept-Encoding", .contentLanguage: language,
        .lastModified: Timestamp(seconds: 1_699_000_000 + Int64(version)).httpDate,
      ]
      if coding != "identity" { fields[.contentEncoding] = coding }
      fields[.eTag] =
        switch tagging {
        case .strong: "\"\(version)-\(language)-\(coding)\""
        case .weak: "W/\"\(version)-\(language)-\(coding)\""
        case .sharedWeak: "W/\"\(version)\""
        case .dates: nil
        case .sharedStrong: "\"\(version)-\(language)\""
        }
      return fields
    }
  }

  private static let languages = ["de", "de-AT", "fr", "en"]
  private static let codings = ["identity", "gzip", "br", "gzip, br"]

  /// The origin's selection: dialects and unavailable values fall back.
  private static func selected(_ request: HTTPRequest, version: Int) -> Representation {
    let wanted = request.headerFields[.acceptLanguage] ?? "en"
    let coding = request.headerFields[.acceptEncoding] ?? "identity"
    return Representation(
      version: version, language: wanted == "fr" ? "fr" : wanted == "en" ? "en" : "de",
      coding: coding.hasPrefix("gzip") ? "gzip" : coding)
  }

  private struct World: Sendable {
    var version = 1
    var random: SeededGenerator
  }

  @Test(
    "languages and codings, confirmed by strong tags, weak ones, dates and nothing",
    arguments: Tagging.allCases, 1...8)
  func variants(tagging: Tagging, seed: Int) async throws {
    let test = TestCache()
    let world = WatchedState(World(random: SeededGenerator(seed: UInt64(seed) + 100)))
    test.origin.answers { request, _ in
      world.withLock { world in
        let current = Self.selected(request, version: world.version)
        let fields = current.fields(tagging)
        let asked = request.headerFields
        let isSame: Bool =
          if let tags = asked[.ifNoneMatch] {
            fields[.eTag].map { tag in
              tags.split(separator: ", ").contains { Self.opaque($0) == Self.opaque(tag[...]) }
            } ?? false
          } else {
            asked[.ifModifiedSince] != nil && asked[.ifModifiedSince] == fields[.lastModified]
          }
        guard isSame else { return (200, fields, request.method == .head ? "" : current.text) }
        var confirmed = fields
        // Not every origin sends what RFC 9110 §15.4.5 requires.
        switch Int.random(in: 0..<4, using: &world.random) {
        case 0: confirmed[.eTag] = nil
        case 1: confirmed = [.lastModified: fields[.lastModified] ?? ""]
        case 2: confirmed = [:]
        default: break
        }
        return (304, confirmed, "")
      }
    }
    var random = SeededGenerator(seed: UInt64(seed))
    for step in 0..<120 {
      if Int.random(in: 0..<8, using: &random) == 0 { world.withLock { $0.version += 1 } }
      test.clock.advance(by: Int64.random(in: 0...8, using: &random))
      let fields: HTTPFields = [
        .acceptLanguage: Self.languages[Int.random(in: 0..<4, using: &random)],
        .acceptEncoding: Self.codings[Int.random(in: 0..<4, using: &random)],
      ]
      let policies: [CachePolicy] = [
        .standard, .standard, .standard, .revalidate, .cacheElseNetwork, .cacheOnly, .reload,
        .networkElseCache(),
      ]
      let policy = policies[Int.random(in: 0..<policies.count, using: &random)]
      let isHead = Int.random(in: 0..<6, using: &random) == 0
      let answer = try await test.get(
        "/", fields, method: isHead ? .head : .get, policy: policy)
      await test.cache.finishBackgroundWork(within: .seconds(60))
      if answer.status == 504, policy == .cacheOnly { continue }
      let newest = world.withLock { $0.version }
      let wanted = Self.selected(test.request("/", fields), version: newest)
      let context = "\(tagging), seed \(seed), step \(step): \(fields), \(policy)"
      #expect(answer.status == 200, "\(context)")
      #expect(answer.head.headerFields[.contentLanguage] == wanted.language, "\(context)")
      let coding = answer.head.headerFields[.contentEncoding] ?? "identity"
      guard coding == wanted.coding || tagging == .sharedStrong else {
        Issue.record("\(context): got \(coding)")
        return
      }
      if coding != wanted.coding {
        // The origin's strong tag identified this response: it must at least be acceptable.
        #expect(coding == "identity" || fields[.acceptEncoding]?.contains(coding) == true, "\(context)")
      }
      if !isHead { #expect(answer.text.hasSuffix(" \(wanted.language) \(coding)"), "\(context)") }
    }
  }

  private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
