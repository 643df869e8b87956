/// Reads values in the encoding that `RecordCodec` describes, from untrusted bytes: each length is compared
/// with the remaining bytes before it is used.
package struct BinaryReader {
  private let input: UnsafeRawBufferPointer
  private var position = 0

  package init(_ input: UnsafeRawBufferPointer) { self.input = input }

  package var remaining: Int { input.count - position }

  package static func damaged(_ what: String) -> CacheError { CacheError(.damaged, "record: \(what)") }

  package mutating func byte() throws(CacheError) -> UInt8 {
    guard position < input.count else { throw Self.damaged("ends early") }
    defer { position += 1 }
    return input[position]
  }

  @inline(__always)
  package mutating func unsigned() throws(CacheError) -> UInt64 {
    if position < input.count, input[position] < 0x80 {
      defer { position &+= 1 }
      return UInt64(input[position])
    }
    return try longUnsigned()
  }

  private mutating func longUnsigned() throws(CacheError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      let bits = UInt64(next & 0x7F)
      guard shift < 63 || bits <= 1 else { throw Self.damaged("number too large") }
      value |= bits << shift
      if next < 0x80 {
        guard next != 0 || shift == 0 else { throw Self.damaged("number not in its shortest form") }
        return value
      }
      shift += 7
      guard shift <= 63 else { throw Self.damaged("number too large") }
    }
  }

  package mutating func signed() throws(CacheError) -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: (value >> 1) ^ (0 &- (value & 1)))
  }

  package mutating func optionalSigned() throws(CacheError) -> Int64? {
    switch try byte() {
    case 0: return nil
    case 1: return try signed()
    default: throw Self.damaged("neither absent nor present")
    }
  }

  /// A number of elements of at least `size` bytes each; all of them must fit into the remaining bytes.
  package mutating func count(ofSize size: Int) throws(CacheError) -> Int {
    let value = try unsigned()
    guard value <= UInt64(size == 1 ? remaining : remaining / size) else {
      throw Self.damaged("more elements than bytes")
    }
    return Int(value)
  }

  package mutating func slice() throws(CacheError) -> UnsafeRawBufferPointer {
    let length = try count(ofSize: 1)
    defer { position &+= length }
    return UnsafeRawBufferPointer(rebasing: input[position..<position &+ length])
  }

  package mutating func bytes() throws(CacheError) -> [UInt8] { Array(try slice()) }

  package mutating func text() throws(CacheError) -> String {
    let bytes = try slice()
    if ASCIIText.isASCII(bytes) { return ASCIIText.string(bytes) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.damaged("text is not UTF-8")
    }
    return text
  }
}
