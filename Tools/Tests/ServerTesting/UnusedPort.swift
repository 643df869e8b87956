import HTTPCacheLibC

/// A port of 127.0.0.1 where nothing listens: connections are refused.
///
/// The port is bound for as long as this object lives, so that no test that runs meanwhile gets the same port.
package final class UnusedPort: Sendable {
  /// The port.
  package let number: Int
  private let descriptor: Int32

  package init() throws { (descriptor, number) = try RawPeer.boundSocket() }

  deinit { close(descriptor) }

  /// Its URL without a path, such as `http://127.0.0.1:50123`.
  package var base: String { "http://127.0.0.1:\(number)" }
}
