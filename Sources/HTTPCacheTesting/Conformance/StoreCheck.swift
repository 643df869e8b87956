public import HTTPCacheStore

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
