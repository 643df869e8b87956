/// Writes commands: arrays of bulk strings.
enum RESPEncoder {
  /// Appends a command to bytes.
  ///
  /// - Parameter arguments: the name and the arguments of the command.
  static func append(_ arguments: [[UInt8]], to output: inout [UInt8]) {
    output += "*\(arguments.count)\r\n".utf8
    for argument in arguments {
      output += "$\(argument.count)\r\n".utf8
      output += argument
      output += "\r\n".utf8
    }
  }

  /// The bytes of a command, at most.
  static func length(of arguments: [[UInt8]]) -> Int { arguments.reduce(32) { $0 + $1.count + 32 } }
}
