#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// The origin answered, but not with what was asked for: its status is no 2xx.
public struct UnexpectedStatus: Error, Sendable, CustomStringConvertible {
  /// The response.
  public let response: HTTPURLResponse

  /// The status, for people.
  public var description: String { "the origin answered with status \(response.statusCode)" }
}
