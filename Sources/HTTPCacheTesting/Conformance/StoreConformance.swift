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
  public static let checks: [StoreCheck] = wholeBodyChecks + partialChecks + extensionChecks

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
