import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("The length of part files", .timeLimit(.minutes(10)))
final class PartFileLengthTests: PartDestination {
  @Test("bytes of a response that contradicts itself are dropped, and those from before stay")
  func dropped() async throws {
    try await leave("begin")
    let part = try #require(PartFile(existingBeside: file))
    let error = UpstreamError(.protocol, "short", cause: LengthContradiction(length: 5))
    await part.keep(after: error)
    #expect(part.kept == [0..<5])
    try part.resume(at: 4)
    try await part.append(BodyBytes(Array("xyz".utf8)))
    await part.keep(after: UpstreamError(.protocol, "broke off"))
    #expect(part.kept == [0..<7])
    await part.keep(after: error)
    #expect(part.kept == [0..<4])
    part.close()
    let later = try #require(PartFile(existingBeside: file))
    #expect(later.kept == [0..<4] && later.offset == 4)
    try later.resume()
    try await later.append(BodyBytes(Array("nings".utf8)))
    later.drop(1..<3)
    #expect(later.kept == [0..<1, 3..<9] && later.received == 1)
  }

  @Test("a part learns its length from the response that goes on")
  func length() async throws {
    let part = try PartFile(beside: file)
    try part.begin(PartRecord.sample(length: nil))
    try await part.append(BodyBytes(Array("begin".utf8)))
    for length in [9, 12] as [Int64] {
      try part.resume(at: 5, length: length)
      #expect(part.record?.length == 9)
    }
  }
}
