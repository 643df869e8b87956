/// Writes commands: arrays of bulk strings.
enum RESPEncoder {
  /// Appends a command to bytes.
  ///
  /// - Parameter arguments: the name and the arguments of the command.
  static func append(_ arguments: [[UInt8]], to output: inout [UInt8]) {
    append(UInt8(ascii: "*"), arguments.count, to: &output)
    for argument in arguments {
      append(UInt8(ascii: "$"), argument.count, to: &output)
      output.append(contentsOf: argument)
      output.append(0x0D)
      output.append(0x0A)
    }
  }

  /// The bytes of a command, at most.
  static func length(of arguments: [[UInt8]]) -> Int { arguments.reduce(32) { $0 + $1.count + 32 } }

  private static func append(_ kind: UInt8, _ number: Int, to output: inout [UInt8]) {
    output.append(kind)
    output.append(contentsOf: String(number).utf8)
    output.append(0x0D)
    output.append(0x0A)
  }
}
