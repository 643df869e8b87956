/// Appends values in the encoding that `RecordCodec` describes.
package struct BinaryWriter {
  package private(set) var output: [UInt8] = []

  package init() { output.reserveCapacity(512) }

  package mutating func byte(_ value: UInt8) { output.append(value) }

  package mutating func unsigned(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    output.append(UInt8(truncatingIfNeeded: rest))
  }

  package mutating func signed(_ value: Int64) { unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

  package mutating func optionalSigned(_ value: Int64?) {
    guard let value else { return byte(0) }
    byte(1)
    signed(value)
  }

  package mutating func count(_ value: Int) { unsigned(UInt64(value)) }

  package mutating func bytes(_ value: [UInt8]) {
    count(value.count)
    output.append(contentsOf: value)
  }

  package mutating func bytes(_ value: UnsafeRawBufferPointer) {
    count(value.count)
    output.append(contentsOf: value)
  }

  package mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { bytes in
      count(bytes.count)
      output.append(contentsOf: bytes)
    }
  }

  package mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { output.append(contentsOf: $0) }
  }
}

extension [UInt8] {
  /// Bytes that no program can predict.
  package static func random(count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max) }
  }
}
