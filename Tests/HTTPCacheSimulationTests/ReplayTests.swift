import Foundation
import HTTPCacheSimulation
import Testing

/// A seed makes the same steps each time, in each process.
@Suite(.timeLimit(.minutes(10))) struct ReplayTests {
  /// The output of `simulate-races`, which is in the folder of the tests.
  private func output(_ arguments: [String]) throws -> [String] {
    let tests = try #require(CommandLine.arguments.first.map { URL(fileURLWithPath: $0) })
    let process = Process()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("simulate-races")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("the steps of a seed have the same digest in two processes", arguments: [[], ["--fleet"]])
  func sameSteps(_ options: [String]) throws {
    let arguments = ["--seed", "7", "--count", "40", "--digests"] + options
    let first = try output(arguments).filter { $0.contains("digest") }
    let second = try output(arguments).filter { $0.contains("digest") }
    #expect(first.count == 40)
    #expect(first == second)
    #expect(Set(first.compactMap { $0.split(separator: " ").last }).count == 40, "seeds differ")
  }

  @Test("one world alone makes the steps that it makes after others", arguments: [[], ["--fleet"]])
  func alone(_ options: [String]) throws {
    let all = try output(["--seed", "1", "--count", "20", "--digests"] + options)
    let alone = try output(["--seed", "20", "--count", "1", "--digests"] + options)
    let line = try #require(alone.first { $0.contains("digest") })
    #expect(all.contains(line))
  }

  @Test("a trace tells each step of a world")
  func trace() throws {
    let lines = try output(["--scenario", "put-overtakes-get", "--seed", "3", "--count", "1", "--trace"])
    #expect(lines.contains { $0.contains("makes t0.n.v1") })
    #expect(lines.contains { $0.contains("from here on /a has at least version 2 (unsafe)") })
  }
}
