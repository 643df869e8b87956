public import Foundation

/// Why faults cannot be injected.
public struct FaultError: LocalizedError, Sendable, CustomStringConvertible {
  /// A sentence for people.
  public let description: String

  /// The sentence.
  public var errorDescription: String? { description }

  init(_ description: String) { self.description = description }
}
