import Testing

@testable import HTTPCacheCommand

@Suite("The number of event loops", .timeLimit(.minutes(10))) struct ProcessorsTests {
  @Test(
    "the mask of processors is counted",
    arguments: [
      ("Name:\ta\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", 2), ("Cpus_allowed:\tff,ffffffff\n", 40),
      ("Cpus_allowed:\t4\n", 1), ("Cpus_allowed:\t0\n", nil), ("Name:\ta\n", nil),
    ] as [(String, Int?)])
  func allowed(status: String, count: Int?) {
    #expect(Processors.allowed(in: status) == count)
    #expect(Processors.count > 0)
  }
}
