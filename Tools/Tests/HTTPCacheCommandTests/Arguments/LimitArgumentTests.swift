import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct LimitArgumentTests {
  @Test("the largest entry is bytes or a share")
  func largestEntry() {
    #expect(LargestEntryArgument(argument: "10%")?.limit == .share(0.1))
    #expect(LargestEntryArgument(argument: "64MiB")?.limit == .bytes(64 << 20))
    #expect(LargestEntryArgument(argument: "100%")?.limit == .share(1))
    for text in ["101%", "-1%", "%", "x%", "", "12x"] {
      #expect(LargestEntryArgument(argument: text) == nil, "\(text)")
    }
    #expect(LargestEntryArgument(.share(0.5)).description == "50%")
    #expect(LargestEntryArgument(.bytes(64 << 20)).description == "64M")
  }

  @Test("stats shows the bytes in use by kind, and the capacity")
  func room() async throws {
    let directory = try ScratchFolder()
    try await DemoOrigin.withOrigin { origin in
      let cache = directory.path("cache")
      let run = await CommandRun(
        "get", origin.base + DemoResource.image.rawValue, "--dir", cache, "--capacity", "64M")
      try #require(run.status == 0, "\(run.errors)")
      let stats = await CommandRun("stats", "--dir", cache)
      #expect(stats.output.contains("usage       body files "))
      #expect(stats.output.contains("capacity    64.0 MiB, "))
      let json = await CommandRun("stats", "--dir", cache, "--json")
      #expect(json.output.contains("\"capacity\""))
    }
  }
}
