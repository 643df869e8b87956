import Foundation
import HTTPCacheURLSession
import HTTPCaching
import Testing

@Suite(.timeLimit(.minutes(10))) struct CachePolicyTests {
  @Test(arguments: [
    (URLRequest.CachePolicy.useProtocolCachePolicy, CachePolicy.standard),
    (.reloadIgnoringLocalCacheData, .reload),
    (.reloadIgnoringLocalAndRemoteCacheData, .reloadEverywhere),
    (.returnCacheDataElseLoad, .cacheElseNetwork),
    (.returnCacheDataDontLoad, .cacheOnly),
    (.reloadRevalidatingCacheData, .revalidate),
  ])
  func eachOfFoundationsPoliciesHasOne(of policy: URLRequest.CachePolicy, ours: CachePolicy) {
    #expect(CachePolicy(policy) == ours)
  }
}
