import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The reason why a response does not fit is that of the tier that refused it", .timeLimit(.minutes(10)))
struct SmallCapacityTests {
  private let fields: HTTPFields = [.cacheControl: "max-age=60"]

  private func cache(_ kind: StoreKind, disk capacity: Int64) throws -> TestCache<TestOrigin> {
    try TestCache(kind, origin: TestOrigin()) { $0.diskCapacity = capacity }
  }

  private func isNoSpace(_ event: CacheEvent) -> Bool {
    guard case .storeFailed(_, let error) = event else { return false }
    return error.code == .noSpace && error.message.contains("a cache with one entry takes")
  }

  @Test(
    "a directory that an empty index fills has no space, however short the body",
    arguments: [Int64(1), 100_000])
  func noSpace(capacity: Int64) async throws {
    let test = try cache(.disk, disk: capacity)
    test.origin.always(200, fields, "hello")
    #expect(
      try await test.get("/").outcome
        == .forwarded(.miss(.absent), status: 200, storage: .doNotStore(.storeFailed), collapsed: false))
    // One on opening.
    #expect(test.events.count { isNoSpace($0) } > 1)
  }

  @Test("memory keeps what such a directory has no space for", arguments: [Int64(1), 100_000])
  func memory(capacity: Int64) async throws {
    let test = try cache(.memoryOverDisk, disk: capacity)
    try await test.store(fields, "hello")
    #expect(try await test.get("/").text == "hello")
    #expect(test.origin.requests.count == 1)
    #expect(test.events.count { isNoSpace($0) } > 1)
  }

  @Test("a body that is too long for the directory is told with the limit of the directory")
  func tooLarge() async throws {
    let test = try cache(.memoryOverDisk, disk: 4 << 20)
    test.origin.always(200, fields, String(repeating: "x", count: 3 << 20))
    try await test.get("/")
    await test.events.wait { if case .notStored = $0 { true } else { false } }
    let limit: Int64 = 2 << 20
    #expect(
      test.events.count { if case .notStored(_, .tooLarge(limit: limit)) = $0 { true } else { false } } == 1)
  }
}
