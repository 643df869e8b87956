import HTTPCacheSemantics
public import HTTPCacheStore
import HTTPTypes

/// A sequence of operations on a store that a seed determines: whole bodies and parts of all sizes,
/// freshening, invalidation, removal, jumps of the clock.
///
/// It may be cut off at any moment, or meet errors; a `WorkloadLedger` then tells what may be found.
public struct StoreWorkload: Sendable {
  /// The steps, in order.
  public let steps: [WorkloadStep]
  /// The numbers of the keys it uses.
  public let keys: Range<Int>
  private let seed: UInt64
  private let writer: Int
  private let longest: Int

  /// Lengths of bodies around every boundary that a store may have.
  public static let lengths = [
    0, 1, 100, 4_000, 16_384, 16_385, 60_000, 262_143, 262_144, 262_145, 700_000,
  ]

  /// Makes a workload.
  ///
  /// - Parameters:
  ///   - seed: determines all steps.
  ///   - count: the number of steps.
  ///   - keys: the numbers of the keys it writes.
  ///   - writer: a number that no other workload in this directory has.
  ///   - longest: the longest body in bytes.
  public init(
    seed: UInt64, count: Int, keys: Range<Int> = 0..<8, writer: Int = 1, longest: Int = 700_000
  ) {
    var generator = SeededGenerator(seed: seed)
    let lengths = Self.lengths.filter { $0 <= longest }
    var parts: [Int: (version: SampleVersion, count: Int)] = [:]
    var steps: [WorkloadStep] = []
    for number in 0..<count {
      let key = keys.isEmpty ? 0 : keys.lowerBound + generator.below(keys.count)
      let version = SampleVersion(
        key: key, writer: writer, number: number,
        length: lengths.isEmpty ? 0 : lengths[generator.below(lengths.count)])
      switch generator.below(20) {
      case 0..<8: steps.append(.store(version, announcesLength: generator.below(2) == 0))
      case 8: steps.append(.abandon(version, after: generator.below(version.length + 1)))
      case 9, 10:
        let count = generator.below(version.length + 1)
        if count > 0, count < version.length { parts[key] = (version, count) }
        steps.append(.keep(version, count: count))
      case 11, 12:
        guard let part = parts[key] else {
          steps.append(.read(key))
          continue
        }
        let isLast = generator.below(2) == 0
        let rest = part.version.length - part.count
        let count = isLast ? rest : generator.below(rest)
        steps.append(.extend(part.version, from: part.count, count: count))
        parts[key] = isLast ? nil : (part.version, part.count + count)
      case 13, 14: steps.append(.freshen(key))
      case 15: steps.append(.invalidate(key))
      case 16: steps.append(generator.below(2) == 0 ? .invalidatePartition : .remove(key))
      case 17:
        steps.append(generator.below(2) == 0 ? .flush : .jump(Int64(generator.below(200_000)) - 100_000))
      default: steps.append(.read(key))
      }
    }
    self.steps = steps
    self.keys = keys
    self.seed = seed
    self.writer = writer
    self.longest = longest
  }

  /// The arguments that make an equal workload in another process.
  public var arguments: [String] {
    ["\(seed)", "\(steps.count)", "\(keys.lowerBound)", "\(keys.upperBound)", "\(writer)", "\(longest)"]
  }

  /// Makes the workload from its `arguments`; nil for other arguments.
  public init?(arguments: some Collection<String>) {
    let parts = Array(arguments)
    let numbers = parts.dropFirst().compactMap { Int($0) }
    guard parts.count == 6, numbers.count == 5, let seed = UInt64(parts[0]), numbers[0] >= 0,
      numbers[1] <= numbers[2]
    else { return nil }
    self.init(
      seed: seed, count: numbers[0], keys: numbers[1]..<numbers[2], writer: numbers[3],
      longest: numbers[4])
  }

  /// Performs the steps one after the other, and continues after errors.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - clock: the store's clock, if it may jump.
  ///   - isolation: the actor that `told` runs on, by default the caller's.
  ///   - told: called for each step when it begins and when it ends.
  /// - Throws: `StoreViolation` if a body is not what was written.
  public func run(
    on store: any CacheStore, clock: ManualClock? = nil, isolation: isolated (any Actor)? = #isolation,
    told: (Int, WorkloadOutcome) async throws -> Void = { _, _ in }
  ) async throws {
    for (index, step) in steps.enumerated() {
      try await told(index, .begun)
      do {
        try await told(index, try await perform(step, on: store, clock: clock) ? .done : .failed)
      } catch is CacheError {
        try await told(index, .failed)
      }
    }
  }

  private func perform(
    _ step: WorkloadStep, on store: any CacheStore, clock: ManualClock?
  ) async throws -> Bool {
    switch step {
    case .store(let version, let announcesLength):
      let record = version.record(announcesLength: announcesLength, isResumable: version.number % 2 == 0)
      try await store.store(record, version.body)
      return true
    case .abandon(let version, let count):
      let writer = try await store.write(version.record(), variantLimit: 8)
      try await append(version.body.prefix(count), to: writer)
      writer.abandon()
      return true
    case .keep(let version, let count):
      let writer = try await store.write(version.record(isResumable: true), variantLimit: 8)
      try await append(version.body.prefix(count), to: writer)
      return try await writer.keep() != nil
    case .extend(let version, let offset, let count):
      return try await extend(version, from: offset, count: count, store)
    case .freshen(let key):
      guard let found = try store.read(SampleVersion.key(key)).first(where: { $0.record.isComplete })
      else { return false }
      var response = found.record.response
      response.isInvalidated = false
      return try await store.update(found.record.with(response: response))
    case .invalidate(let key):
      try await store.invalidate(.key(SampleVersion.key(key)))
      return true
    case .invalidatePartition:
      try await store.invalidate(.partition(mode: .private, "p"))
      return true
    case .remove(let key):
      try await store.remove(.key(SampleVersion.key(key)))
      return true
    case .read(let key):
      for variant in try store.read(SampleVersion.key(key)) {
        _ = try await WorkloadAudit.check(variant, key: key)
      }
      return true
    case .jump(let seconds):
      clock?.jump(to: StoreSample.start.adding(seconds))
      return true
    case .flush:
      await store.flush()
      return true
    }
  }

  private func extend(
    _ version: SampleVersion, from offset: Int, count: Int, _ store: any CacheStore
  ) async throws -> Bool {
    let part = try store.read(SampleVersion.key(version.key)).first {
      !$0.record.isComplete && SampleVersion($0.record) == version
    }
    guard let part else { return false }
    let writer = try await store.extend(
      part.record.storing(part.record.storedRanges, bodyLength: Int64(version.length)), at: Int64(offset))
    try await append(version.body.dropFirst(offset).prefix(count), to: writer)
    try await writer.commit(trailers: [:])
    return true
  }

  private func append(_ bytes: BodyBytes, to writer: any BodyWriter) async throws {
    var rest = bytes
    while !rest.isEmpty {
      try await writer.append(rest.prefix(60_000))
      rest = rest.dropFirst(60_000)
    }
  }
}
