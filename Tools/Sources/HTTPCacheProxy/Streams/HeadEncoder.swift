import HTTPCacheSemantics
import HTTPTypes
import NIOCore

extension ByteBuffer {
  /// Writes a status line.
  ///
  /// - Parameter minorVersion: 0 writes HTTP/1.0, any other HTTP/1.1.
  mutating func writeStatusLine(_ status: HTTPResponse.Status, minorVersion: Int = 1) {
    writeStaticString(minorVersion == 0 ? "HTTP/1.0 " : "HTTP/1.1 ")
    writeString(String(status.code))
    writeStaticString(" ")
    for scalar in status.reasonPhrase.unicodeScalars where scalar.value < 256 {
      writeInteger(UInt8(scalar.value))
    }
    writeStaticString("\r\n")
  }

  /// Writes a request line.
  mutating func writeRequestLine(_ method: HTTPRequest.Method, _ target: String) {
    writeString(method.rawValue)
    writeStaticString(" ")
    writeString(target)
    writeStaticString(" HTTP/1.1\r\n")
  }

  /// Writes fields byte for byte, without the empty line after them.
  ///
  /// - Parameter isWritten: whether fields with a name are written.
  mutating func writeFields(_ fields: HTTPFields, where isWritten: (HTTPField.Name) -> Bool = { _ in true }) {
    for field in fields where isWritten(field.name) {
      var name = field.name.rawName
      name.withUTF8 { name in field.withUnsafeBytesOfValue { writeField(name, $0) } }
    }
  }

  /// Writes one field in one step: to make space takes longer than to copy.
  private mutating func writeField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    let count = name.count + value.count + 4
    writeWithUnsafeMutableBytes(minimumWritableBytes: count) { line in
      let start = name.count + 2
      line.copyMemory(from: UnsafeRawBufferPointer(name))
      (line[name.count], line[name.count + 1]) = (0x3A, 0x20)
      UnsafeMutableRawBufferPointer(rebasing: line[start...]).copyMemory(from: UnsafeRawBufferPointer(value))
      (line[start + value.count], line[start + value.count + 1]) = (0x0D, 0x0A)
      return count
    }
  }

  /// Writes one field.
  mutating func writeField(_ name: StaticString, _ value: String) {
    writeStaticString(name)
    writeStaticString(": ")
    writeString(value)
    writeStaticString("\r\n")
  }

  /// Writes the size line of a chunk.
  mutating func writeChunkSize(_ size: Int) {
    writeString(String(size, radix: 16))
    writeStaticString("\r\n")
  }

  /// Writes the last chunk and the trailers.
  mutating func writeLastChunk(_ trailers: HTTPFields) {
    writeStaticString("0\r\n")
    writeFields(FieldHygiene.forwardable(trailers: trailers))
    writeStaticString("\r\n")
  }
}
