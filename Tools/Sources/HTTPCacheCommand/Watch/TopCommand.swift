import ArgumentParser
import Foundation

/// `httpcache top`: what a running proxy does, second by second.
struct TopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Show what a running proxy does, second by second.",
    discussion: """
      Reads from the admin listener of `httpcache serve --admin 127.0.0.1:9180`; the same figures are in a browser \
      at http://127.0.0.1:9180/. On a terminal the screen is drawn anew each second, elsewhere a line is printed.

        httpcache top
        httpcache top --admin cache.example:9180 --admin-token-file token

      Exit status:
      \(ExitStatus.help([.success: "--count seconds were shown", .failure: "the listener cannot be reached, or refuses", .output: nil, .usage: nil]))
      """)

  @OptionGroup var listener: AdminClientOptions

  @Flag(help: "Print a JSON object a line.")
  var json = false

  /// Ends the reading of events.
  private struct Done: Error {}

  func run() async throws {
    do {
      try await show(try listener.client())
    } catch is Done {
    } catch let error as StartFailure {
      throw error.reported()
    }
  }

  private func show(_ client: AdminClient) async throws {
    var left = listener.count ?? .max
    var screen = Terminal.isTerminal(STDOUT_FILENO) && !json ? TopScreen() : nil
    try await client.lines(of: "/live") { line in
      guard line.hasPrefix("data: ") else { return }
      let text = String(line.dropFirst(6))
      let sample = try client.value(AdminLive.self, in: text)
      // The first event tells only that the listener answers.
      guard sample.seconds > 0 else { return }
      if screen != nil {
        if screen?.isDue == true { screen?.missed = try await missed(client) }
        Console.current.output(screen?.text(sample, of: listener.admin.description) ?? "")
      } else {
        Console.print(json ? text : TopScreen.line(sample))
      }
      try Console.checkOutput()
      left -= 1
      if left == 0 { throw Done() }
    }
    throw StartFailure("the admin listener at \(listener.admin) ended the connection")
  }

  private func missed(_ client: AdminClient) async throws -> [AdminMissed] {
    var rows: [AdminMissed] = []
    try await client.lines(of: "/missed") {
      rows = try client.value([AdminMissed].self, in: $0)
    }
    return rows
  }
}
