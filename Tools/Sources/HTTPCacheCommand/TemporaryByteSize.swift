import ArgumentParser

struct ByteSize: ExpressibleByArgument, Sendable {
  var bytes: Int64
  init(bytes: Int64) { self.bytes = bytes }
  init?(argument: String) {
    guard let value = Int64(argument) else { return nil }
    bytes = value
  }
}
