#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// The origin answered with a status other than 2xx, so without the requested content.
public struct UnexpectedStatus: Error, Sendable, CustomStringConvertible {
  /// The response.
  public let response: HTTPURLResponse

  /// The status, for people.
  public var description: String { "the origin answered with status \(response.statusCode)" }
}
