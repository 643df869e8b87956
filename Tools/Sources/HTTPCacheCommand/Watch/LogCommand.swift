import ArgumentParser
import Foundation

/// `httpcache log`: the requests to a running proxy, as they finish.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show the requests to a running proxy as they finish.",
    discussion: """
      Reads from the admin listener of `httpcache serve --admin 127.0.0.1:9180`, from now on until it is interrupted.

        httpcache log --outcome miss,refetched
        httpcache log --url /api/ --json

      Outcomes: hit, stale, validated (the origin confirmed the stored response), refetched (it sent another), miss, \
      collapsed (waited for an equal request), pass (around the cache), and others for tunnels, purges and errors; \
      an unknown one is refused with a list of all. -aborted after an outcome is a response that broke off.

      Exit status:
      \(ExitStatus.help([.success: "--count requests were shown", .failure: "the listener cannot be reached, or refuses", .output: nil, .usage: nil]))
      """)

  @OptionGroup var listener: AdminClientOptions

  @Option(help: ArgumentHelp("Show only requests whose host and target have this text.", valueName: "text"))
  var url: String?

  @Option(help: ArgumentHelp("Show only these outcomes, with commas between them.", valueName: "words"))
  var outcome: String?

  @Option(help: ArgumentHelp("Show only requests of this client.", valueName: "address"))
  var client: String?

  @Flag(help: "Print a JSON object a line.")
  var json = false

  func validate() throws {
    do throws(ValidationError) {
      _ = try RequestFilter(target: url, outcomes: outcome, client: client)
    } catch {
      throw ValidationError("--\(error.message).")
    }
  }

  /// Ends the reading of lines.
  private struct Done: Error {}

  func run() async throws {
    do {
      var left = listener.count ?? .max
      let client = try listener.client()
      try await client.lines(of: path) { line in
        Console.print(json ? line : try Self.text(client.value(AdminRequestLine.self, in: line)))
        try Console.checkOutput()
        left -= 1
        if left == 0 { throw Done() }
      }
      throw StartFailure("the admin listener at \(listener.admin) ended the connection")
    } catch is Done {
    } catch let error as StartFailure {
      throw error.reported()
    }
  }

  private var path: String {
    var parts = URLComponents()
    parts.path = "/requests"
    let items = [("target", url), ("outcome", outcome), ("client", client)].compactMap { name, value in
      value.map { URLQueryItem(name: name, value: $0) }
    }
    if !items.isEmpty { parts.queryItems = items }
    return parts.string ?? "/requests"
  }

  private static func text(_ request: AdminRequestLine) -> String {
    let time = HumanText.duration(.milliseconds(request.milliseconds))
    let host = request.host.map { $0.isEmpty ? "" : "  host: \($0)" } ?? ""
    let reason =
      request.notStored.map { "  not stored: \($0)" } ?? request.reason.map { "  refused: \($0)" } ?? ""
    return
      "\(request.client)  \(request.method) \(request.target)  \(request.status)  \(HumanText.bytes(request.bytes))  \(time)  \(request.outcome)\(host)\(reason)"
  }
}
