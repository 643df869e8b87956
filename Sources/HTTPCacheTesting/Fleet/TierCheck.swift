public import HTTPCaching

/// Two connections with one empty tier, as two nodes have them, and the passing of time.
public struct TierSample: Sendable {
  /// The connection of the first node.
  public let first: any SharedTier
  /// The connection of the second node.
  public let second: any SharedTier
  /// Lets time pass for the tier: a manual clock moves; a real server needs the time.
  public let pass: @Sendable (Duration) async throws -> Void

  /// Makes a sample.
  ///
  /// - Parameters:
  ///   - first: the connection of the first node.
  ///   - second: the connection of the second node.
  ///   - pass: lets time pass for the tier.
  public init(
    first: any SharedTier, second: any SharedTier, pass: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.first = first
    self.second = second
    self.pass = pass
  }
}

/// One behaviour that every `SharedTier` must have.
public struct TierCheck: Sendable, CustomStringConvertible {
  /// Makes an empty tier with two connections.
  public typealias MakeTier = @Sendable () async throws -> TierSample

  /// The required behaviour, as a sentence.
  public let name: String
  private let body: @Sendable (TierSample) async throws -> Void

  /// Makes a check.
  public init(_ name: String, _ body: @escaping @Sendable (TierSample) async throws -> Void) {
    self.name = name
    self.body = body
  }

  /// The sentence.
  public var description: String { name }

  /// Runs it against a tier that `makeTier` makes, and closes both connections.
  ///
  /// - Throws: `StoreViolation` if the tier behaves differently; what the tier throws.
  public func run(_ makeTier: MakeTier) async throws {
    let sample = try await makeTier()
    do {
      try await body(sample)
    } catch {
      await sample.first.close()
      await sample.second.close()
      throw error
    }
    await sample.first.close()
    await sample.second.close()
  }
}
