import HTTPCacheDownloads
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Silent origins of a queue", .timeLimit(.minutes(10))) struct QueueSilenceTests {
  @Test(
    "an origin of a queue has 60 s for the head and 600 s in the body, as one of get; a value counts for both",
    arguments: [
      ([], .seconds(60), .seconds(600)), (["--origin-silence", "5"], .seconds(5), .seconds(5)),
      (["--origin-silence", "0"], .seconds(365 * 86_400), .seconds(365 * 86_400)),
    ] as [([String], Duration, Duration)])
  func limits(options: [String], head: Duration, body: Duration) throws {
    let get = try HTTPCacheCommand.parsed(["get", "http://127.0.0.1:1/", "--queue", "q"] + options)
    let resume = try HTTPCacheCommand.parsed(["downloads", "resume"] + options)
    let groups = [(get as? GetCommand)?.connection, (resume as? DownloadsResumeCommand)?.connection]
    for group in groups {
      var configuration = DownloadQueue.Configuration()
      configuration.limitSilence(as: try #require(group).clientOptions())
      #expect(configuration.headLimit == head && configuration.stallLimit == body)
    }
  }

  @Test(
    "--origin-silence ends an attempt whose origin is silent, before the head and in the body",
    arguments: [true, false])
  func ends(_ hasHead: Bool) async throws {
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin { _ in
      let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nCache-Control: max-age=60"
      return hasHead ? ScriptedOrigin.Answer(head: head, body: [1], isHeld: true) : nil
    }
    await CommandRun.failure(
      .timeout, "get", origin.base + "/a", "-o", directory.path("a"), "--queue", "q", "--origin-silence", "1",
      "--retry", "0",
      "--dir", directory.path("cache"))
  }
}
