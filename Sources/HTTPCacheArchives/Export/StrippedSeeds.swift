public import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// The responses of another source without secrets: fields are left out, and the values of parameters of queries
/// become `removed`. Of targets that are then equal, the first stays. A response whose `Vary` names a field that is left
/// out, and whose request had that field, cannot be selected without it, and is left out, too (`notes`).
public final class StrippedSeeds: SeedSource {
  private let source: any SeedSource
  private let secrets: RecordingSecrets
  /// The places of the responses in the list of the source.
  private let places: [Int]
  private let numbers: [String: [Int]]
  /// The responses that are left out, and why; at most 100.
  public let notes: [String]
  /// The number of responses that are left out, also those beyond the notes.
  public let noteCount: Int

  /// Reads the heads of all responses of a source.
  ///
  /// - Throws: what reading the source throws.
  public init(_ source: any SeedSource, without secrets: RecordingSecrets) throws(CacheError) {
    self.source = source
    self.secrets = secrets
    var (places, numbers, seen) = ([Int](), [String: [Int]](), Set<String>())
    var (notes, noteCount) = ([String](), 0)
    func note(_ text: String) {
      if noteCount < 100 { notes.append(text) }
      noteCount += 1
    }
    var position = 0
    while true {
      let page = try source.responses(from: position, limit: 64)
      for (offset, seed) in page.enumerated() {
        guard let seed = Self.stripped(seed, secrets) else {
          note("\(secrets.removed(from: seed.target)): only requests with a secret field select it (Vary)")
          continue
        }
        let name = seed.response.nominated.reduce(seed.target) {
          "\($0)\n\($1.name.canonicalName)=\($1.value)"
        }
        guard seen.insert(name).inserted else {
          note("\(seed.target): an earlier response has the same URL without secrets")
          continue
        }
        for target in [seed.target] + seed.otherTargets { numbers[target, default: []].append(places.count) }
        places.append(position + offset)
      }
      position += page.count
      if page.isEmpty { break }
    }
    self.places = places
    self.notes = notes
    self.noteCount = noteCount
    self.numbers = numbers
  }

  private static func stripped(_ seed: SeedResponse, _ secrets: RecordingSecrets) -> SeedResponse? {
    var response = seed.response
    // A field that the request did not have is no secret.
    guard !response.nominated.contains(where: { secrets.fields.contains($0.name) && $0.value != .absent })
    else { return nil }
    response.head.headerFields = secrets.removed(from: response.head.headerFields)
    response.trailers = secrets.removed(from: response.trailers)
    var stripped = SeedResponse(
      target: secrets.removed(from: seed.target), response: response, bodyLength: seed.bodyLength,
      body: seed.body, bodyPath: seed.bodyPath)
    stripped.otherTargets = seed.otherTargets.map { secrets.removed(from: $0) }
    return stripped
  }

  /// The name of the source.
  public var name: String { source.name }

  /// The number of responses that stay.
  public var count: Int { places.count }

  /// The latest time at which a response was received.
  public var newest: Timestamp { source.newest }

  /// The responses for a target, whose secret parameters have the value `removed`.
  ///
  /// - Throws: what reading the source throws.
  public func responses(to target: String) throws(CacheError) -> [SeedResponse] {
    var found: [SeedResponse] = []
    for number in numbers[target] ?? [] {
      found += try responses(from: number, limit: 1).map { $0.target == target ? $0 : $0.answering([target]) }
    }
    return found
  }

  /// A part of the list, in the order of the source.
  ///
  /// - Throws: what reading the source throws.
  public func responses(from position: Int, limit: Int) throws(CacheError) -> [SeedResponse] {
    var found: [SeedResponse] = []
    for place in places.dropFirst(max(0, position)).prefix(max(0, limit)) {
      for seed in try source.responses(from: place, limit: 1) {
        if let seed = Self.stripped(seed, secrets) { found.append(seed) }
      }
    }
    return found
  }
}
