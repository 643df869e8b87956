import Foundation
import HTTPCacheArchives
import HTTPCacheStore
import Testing

@Suite("Decoding gzip piece by piece", .timeLimit(.minutes(10)))
struct DeflateDecoderTests {
  @Test("a member that ends with a full piece has no more output")
  func fullPiece() throws {
    var decoder = try DeflateDecoder()
    var input = BodyBytes(try Data(count: 128 << 10).gzipped)
    var length = 0
    repeat { length += try decoder.decode(&input).count } while !decoder.isEnded
    let hasOutput = decoder.hasOutput
    #expect(length == 128 << 10 && !hasOutput)
  }

  @Test("bytes of another format are an error with a text for people")
  func damaged() throws {
    var decoder = try DeflateDecoder()
    var input = BodyBytes(Array("no gzip at all".utf8))
    do {
      _ = try decoder.decode(&input)
      Issue.record("the bytes were decoded")
    } catch {
      #expect(error.localizedDescription.hasPrefix("deflated bytes are damaged"))
    }
  }
}
