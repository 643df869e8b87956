import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Incomplete responses do not outlive their use")
struct PartialRecoveryTests {
  /// Answers ranges with something of its own, and the rest as it should.
  private func lie(_ kitchen: PartialKitchen, _ body: @escaping @Sendable () -> MessageBody) {
    let text = kitchen.origin.text
    kitchen.origin.answers { request in
      var fields: HTTPFields = [.eTag: "\"a\"", .cacheControl: "max-age=60"]
      guard request.headerFields[.range] != nil else {
        return UpstreamResponse(
          head: HTTPResponse(status: .ok, headerFields: fields),
          body: MessageBody(BodyBytes(Array(text.utf8))))
      }
      fields[.contentRange] = "bytes 10-25/26"
      return UpstreamResponse(
        head: HTTPResponse(status: .partialContent, headerFields: fields), body: body())
    }
  }

  @Test(
    "An origin that sends fewer octets than it says is asked for the whole",
    arguments: StoreKind.allCases)
  func wrongLength(kind: StoreKind) async throws {
    let kitchen = try PartialKitchen(kind)
    try await kitchen.range("bytes=0-9")
    lie(kitchen) { MessageBody(BodyBytes()) }
    #expect(try await kitchen.get().text == kitchen.origin.text)
  }

  @Test(
    "A continuation that brings nothing, or too much, is not tried again",
    arguments: StoreKind.allCases, [0, 40])
  func failingContinuation(kind: StoreKind, count: Int) async throws {
    let kitchen = try PartialKitchen(kind)
    try await kitchen.range("bytes=0-9")
    lie(kitchen) {
      MessageBody(
        BreakingBody([UInt8](repeating: 88, count: count), length: nil, breaks: count == 0))
    }
    let broken = try await kitchen.respond()
    await #expect(throws: UpstreamError.self) { try await broken.body.collect() }
    #expect(try await kitchen.get().text == kitchen.origin.text)
    #expect(try kitchen.lastRequest()[.range] == nil)
    #expect(try await kitchen.get().text == kitchen.origin.text)
  }

  @Test("no-cache in the request asks for the whole", arguments: StoreKind.allCases)
  func reload(kind: StoreKind) async throws {
    let kitchen = try PartialKitchen(kind)
    try await kitchen.range("bytes=0-9")
    #expect(try await kitchen.get([.cacheControl: "no-cache"]).text == kitchen.origin.text)
    #expect(try kitchen.lastRequest()[.range] == nil)
  }

  // holds 9111-4.3.5-2, 9111-4.3.5-3
  @Test("A HEAD that tells of another representation ends the use of a part", arguments: StoreKind.allCases)
  func head(kind: StoreKind) async throws {
    let kitchen = try PartialKitchen(kind)
    try await kitchen.range("bytes=0-9")
    kitchen.origin.change(
      to: RangeOrigin.letters(30, from: 65), [.cacheControl: "max-age=60", .eTag: "\"b\""])
    try await kitchen.get(method: .head)
    #expect(try await kitchen.range("bytes=0-1").text == "AB")
  }

  // holds 9111-4.3.5-2, 9111-4.3.5-3
  @Test("So does one with a condition that only the origin can evaluate")
  func headWithCondition() async throws {
    let kitchen = try PartialKitchen(.memory)
    try await kitchen.get()
    kitchen.origin.change(
      to: RangeOrigin.letters(26, from: 65), [.cacheControl: "max-age=60", .eTag: "\"b\""])
    try await kitchen.get([.ifMatch: "\"b\""], method: .head)
    #expect(try await kitchen.get().text == kitchen.origin.text)
  }

  @Test("A newer response that must not be stored ends the use of a part", arguments: StoreKind.allCases)
  func superseded(kind: StoreKind) async throws {
    let kitchen = try PartialKitchen(kind)
    try await kitchen.range("bytes=0-9")
    kitchen.origin.change(
      to: RangeOrigin.letters(26, from: 65), [.cacheControl: "no-store", .eTag: "\"b\""])
    try await kitchen.get()
    #expect(try await kitchen.range("bytes=0-1").text == "AB")
  }
}
