import HTTPTypes
import NIOCore
import NIOHPACK
import Testing

@testable import HTTPCacheProxy

@Suite("Fields in the table of compressed fields (RFC 7541 §2.3.2)", .timeLimit(.minutes(10)))
struct FieldIndexingTests {
  private func head(_ number: Int) throws -> HPACKHeaders {
    let cacheStatus = try #require(HTTPField.Name("Cache-Status"))
    return HPACKHeaders(
      .ok,
      [
        .contentType: "text/plain", .server: "origin", .contentLength: "\(number)", .eTag: "\"\(number)\"",
        .age: "\(number)", cacheStatus: "httpcache; hit; ttl=\(number)", .setCookie: "a=\(number)",
        .location: "/\(number)", .contentRange: "bytes 0-1/\(number)",
      ])
  }

  @Test("values that change from answer to answer leave it as it is")
  func changing() throws {
    var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    var block = ByteBuffer()
    try encoder.encode(headers: try head(0), to: &block)
    let size = encoder.dynamicTableSize
    // `content-type` and `server`, with 32 bytes each (RFC 7541 §4.1).
    #expect(size == 32 + 12 + 10 + 32 + 6 + 6)
    for number in 1..<100 { try encoder.encode(headers: try head(number), to: &block) }
    #expect(encoder.dynamicTableSize == size)
  }

  @Test("a client reads all fields of each answer")
  func decoded() throws {
    var (encoder, decoder) = (
      HPACKEncoder(allocator: ByteBufferAllocator()), HPACKDecoder(allocator: ByteBufferAllocator())
    )
    for number in 0..<3 {
      var block = ByteBuffer()
      try encoder.encode(headers: try head(number), to: &block)
      let decoded = try decoder.decodeHeaders(from: &block)
      #expect(
        decoded.map { "\($0.name): \($0.value)" } == (try head(number)).map { "\($0.name): \($0.value)" })
    }
  }
}
