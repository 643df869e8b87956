import HTTPCacheSemantics
import HTTPTypes
import NIOCore

extension ByteBuffer {
  /// Writes a status line.
  mutating func writeStatusLine(_ status: HTTPResponse.Status) {
    writeStaticString("HTTP/1.1 ")
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
  mutating func writeFields(_ fields: HTTPFields) {
    for field in fields {
      writeString(field.name.rawName)
      writeStaticString(": ")
      field.withUnsafeBytesOfValue { _ = writeBytes($0) }
      writeStaticString("\r\n")
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
