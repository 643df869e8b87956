import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

/// The `userInfo` of responses in an `HTTPURLCache`.
@Suite(.timeLimit(.minutes(10))) struct UserInfoTests {
  private typealias Make = HTTPURLCacheTests

  @Test func userInfoOfPropertyListsIsKept() throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    let userInfo: [AnyHashable: Any] = [
      "date": date, "number": 7, "text": "ü", "data": Data([1, 2]), "list": [1, "a"] as [Any],
      "object": NSObject(), 3: "no text",
    ]
    let cache = HTTPURLCache(memoryCapacity: 4 << 20, diskCapacity: 0)
    try cache.storeCachedResponse(Make.response(userInfo: userInfo), for: Make.request())
    let found = try #require(cache.cachedResponse(for: Make.request())?.userInfo)
    #expect(Set(found.keys) == ["date", "number", "text", "data", "list"])
    #expect(found["date"] as? Date == date)
    #expect(found["number"] as? Int == 7)
    #expect(found["text"] as? String == "ü")
    #expect(found["data"] as? Data == Data([1, 2]))
    #expect((found["list"] as? [Any])?.count == 2)
  }

  @Test func userInfoIsBoundedAndLossesAreTold() throws {
    let events = EventCollector()
    let cache = HTTPURLCache(
      cache: HTTPCache(
        configuration: HTTPCache.Configuration(observer: events),
        store: MemoryStore(capacity: 4 << 20)))
    let long = String(repeating: "a", count: UserInfo.limit)
    try cache.storeCachedResponse(Make.response(userInfo: ["a": long]), for: Make.request())
    #expect(cache.cachedResponse(for: Make.request())?.userInfo == nil)
    #expect(events.failures.all == ["user info"])
    #expect(UserInfo.decoded(Array("bplist00 rubbish".utf8)) == nil)
    #expect(UserInfo.decoded([]) == nil)
    #expect(UserInfo.decoded([1, 2, 3])?[HTTPURLCache.hookUserInfoKey] as? Data == Data([1, 2, 3]))
  }
}

/// Collects the operations that failed.
private final class EventCollector: CacheObserver {
  let failures = Seen<String>()

  func observe(_ event: CacheEvent) {
    if case .storeFailed(let operation, _) = event { failures.add(operation) }
  }
}
