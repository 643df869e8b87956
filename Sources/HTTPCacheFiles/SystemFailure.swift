import HTTPCacheLibC

/// The error that a module throws for a system call that failed.
package protocol SystemFailure: Error {
  /// - Parameters:
  ///   - number: `errno`.
  ///   - operation: what was tried.
  init(number: Int32, during operation: String)
}

extension SystemFailure {
  /// The error of the last system call of this thread.
  package static func last(during operation: String) -> Self { Self(number: errno, during: operation) }
}

/// A system call that failed.
package struct SystemError: SystemFailure {
  package let number: Int32
  package let operation: String

  package init(number: Int32, during operation: String) {
    self.number = number
    self.operation = operation
  }
}
