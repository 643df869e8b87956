import ArgumentParser

/// A value of an option whose error message tells what is expected.
///
/// Does not conform to `ExpressibleByArgument`, so that each option needs `transform: Type.parsed`: the message for a nil
/// of `ExpressibleByArgument` names the value and the option only.
protocol ExpectedArgument {
  /// The expected form, with examples.
  static var expected: String { get }

  /// Parses an argument; nil if it is not as expected.
  init?(argument: String)
}

extension ExpectedArgument {
  /// Parses an argument.
  ///
  /// - Throws: `ValidationError`.
  static func parsed(_ argument: String) throws -> Self {
    guard let value = Self(argument: argument) else { throw ValidationError("expected \(expected)") }
    return value
  }
}

/// Seconds as an argument of options whose values are numbers.
enum SecondsArgument {
  /// - Throws: `ValidationError` for anything but a whole number.
  static func whole(_ argument: String) throws -> Int64 {
    guard let seconds = Int64(argument) else {
      throw ValidationError("expected a whole number of seconds, such as 60")
    }
    return seconds
  }

  /// - Throws: `ValidationError` for anything but a number.
  static func number(_ argument: String) throws -> Double {
    guard let seconds = Double(argument) else {
      throw ValidationError("expected a number of seconds, such as 30 or 2.5")
    }
    return seconds
  }
}
