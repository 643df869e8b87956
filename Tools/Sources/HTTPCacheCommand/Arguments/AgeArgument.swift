/// A length of time as an argument: `90s`, `15m`, `12h`, `7d`, `2w`, `1d12h`; a bare number is days.
struct AgeArgument: ExpectedArgument, Equatable {
  static let expected = "days, or an age such as 90s, 15m, 12h, 7d, 2w or 1d12h"

  /// The length in seconds.
  let seconds: Int64

  private static let units: [Character: Int64] = [
    "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800,
  ]

  /// Makes an age from seconds.
  init(seconds: Int64) { self.seconds = seconds }

  /// Reads an age; nil for anything else, and for one that does not fit.
  init?(argument: String) {
    var total: Int64 = 0
    var number: Int64?
    for character in argument.lowercased() {
      if character.isASCII, let digit = character.wholeNumberValue {
        let (tens, overflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
        let (next, carry) = tens.addingReportingOverflow(Int64(digit))
        guard !overflow, !carry else { return nil }
        number = next
      } else {
        guard let count = number, let unit = Self.units[character],
          let sum = Self.adding(count, times: unit, to: total)
        else { return nil }
        total = sum
        number = nil
      }
    }
    if let days = number {
      guard argument.allSatisfy(\.isNumber), let sum = Self.adding(days, times: 86_400, to: total)
      else { return nil }
      total = sum
    } else if argument.isEmpty {
      return nil
    }
    seconds = total
  }

  private static func adding(_ count: Int64, times unit: Int64, to total: Int64) -> Int64? {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    let (sum, carry) = total.addingReportingOverflow(product)
    return overflow || carry ? nil : sum
  }
}
