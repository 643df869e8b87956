public import HTTPCacheStore

/// Checks of the behaviours that every `CacheStore` must have, for authors of stores.
///
/// With Swift Testing:
///
///     @Test(arguments: StoreConformance.checks)
///     func conforms(_ check: StoreCheck) async throws {
///       try await check.run { MyStore(capacity: $0.capacity, clock: $0.clock) }
///     }
///
/// Checks throw `StoreViolation`, so that any test framework can run them.
public struct StoreConformance: Sendable {
  private let makeStore: StoreCheck.MakeStore

  /// Makes a suite for the stores that `makeStore` makes; each has to be empty.
  public init(makeStore: @escaping StoreCheck.MakeStore) { self.makeStore = makeStore }

  /// All checks.
  public static let checks: [StoreCheck] =
    wholeBodyChecks + partialChecks + extensionChecks + partRecencyChecks

  /// All checks except those of partial bodies, for stores that may keep less of a part than arrived.
  public static let wholeBodyChecks: [StoreCheck] =
    minimalChecks + counterChecks + pinChecks + limitChecks + emptyingChecks + refusalChecks

  /// The checks for a store that implements the required members of `CacheStore` only: without partial bodies,
  /// capacity, counters and notes of refusals.
  public static let minimalChecks: [StoreCheck] =
    bodyChecks + fileChecks + writerChecks + recordChecks + updateChecks + variantChecks
    + oneVariantChecks + selectionChecks + ticketChecks + recencyChecks + manyEntriesChecks
    + concurrencyChecks

  /// Runs one check.
  ///
  /// - Throws: `StoreViolation`, or what the store throws.
  public func run(_ check: StoreCheck) async throws { try await check.run(makeStore) }
}

/// The properties that a check of `StoreConformance` needs from its store.
public struct StoreRequirements: Sendable {
  /// Capacity of the store in bytes.
  public var capacity: Int64
  /// The longest body.
  public var largestEntry: LargestEntry
  /// The clock that the store must use.
  public var clock: ManualClock

  /// Makes requirements.
  public init(
    capacity: Int64 = 32 << 20, largestEntry: LargestEntry = .default,
    clock: ManualClock = ManualClock(now: StoreSample.start)
  ) {
    self.capacity = capacity
    self.largestEntry = largestEntry
    self.clock = clock
  }
}

/// One behaviour that every store must have.
public struct StoreCheck: Sendable, CustomStringConvertible {
  /// Makes an empty store.
  public typealias MakeStore = @Sendable (StoreRequirements) async throws -> any CacheStore

  /// The required behaviour, as a sentence.
  public let name: String
  private let body: @Sendable (MakeStore) async throws -> Void

  /// Makes a check.
  public init(_ name: String, _ body: @escaping @Sendable (MakeStore) async throws -> Void) {
    self.name = name
    self.body = body
  }

  /// The sentence.
  public var description: String { name }

  /// Runs it against stores made by `makeStore`.
  ///
  /// - Throws: `StoreViolation` if a store behaves differently; what the store throws.
  public func run(_ makeStore: MakeStore) async throws { try await body(makeStore) }
}
