import ArgumentParser
import Foundation
import HTTPCaching

/// `httpcache drive`: performs requests given as JSON lines, for test suites of HTTP caches.
struct DriveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drive",
    abstract: "Perform requests given as JSON lines, through a cache.",
    discussion: """
      One request per line on standard input, such as {"id":1,"method":"GET","url":"http://example.com/", \
      "headers":[["name","value"]],"body":null,"cache_mode":"default"}; one response per line on \
      standard output, in the order in which they are complete. The cache modes are those of the \
      Fetch standard. Redirects are not followed.
      """)

  @Option(name: .customLong("dir"), help: "The directory of the cache; without it, the cache is in memory.")
  var directory: String?

  @Flag(help: "Be a shared cache instead of a private one.")
  var shared = false

  @Option(help: "The way into the cache: the engine itself, or a library in front of it.")
  var door = DriveDoorName.engine

  #if URLSessionDoors
    @Option(help: "What sends the requests of the door urlsession to the origin.")
    var transport = DriveTransport.foundation

    func validate() throws {
      if transport != .foundation, door != .urlsession {
        throw ValidationError("--transport \(transport.rawValue) requires --door urlsession.")
      }
    }
  #endif

  func run() async throws {
    // As `serve --shared` does.
    let rules =
      shared
      ? CacheRules(mode: .shared, targetedFields: ["CDN-Cache-Control"], keepsSetCookie: true) : CacheRules()
    let cache: HTTPCache
    do {
      cache = try HTTPCache.open(HTTPCache.Configuration(directory: directory, rules: rules))
    } catch {
      throw ExitStatus.reporting(error)
    }
    #if URLSessionDoors
      let door: any DriveDoor =
        transport == .asynchttpclient
        ? URLSessionDoor(cache, transport: transport) : try door.open(cache)
    #else
      let door = try door.open(cache)
    #endif
    let driver = Driver(door)
    await withDiscardingTaskGroup { group in
      for await line in Self.lines() where !line.isEmpty {
        group.addTask { await driver.perform(line) }
      }
    }
    try await door.close()
  }

  /// The lines of standard input, read on a thread of their own.
  private static func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }
}
