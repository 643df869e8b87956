import Foundation
import HTTPCaching

/// The surroundings of a command; tests replace them.
enum CommandEnvironment {
  /// The environment variables with the defaults of options.
  @TaskLocal static var current = ProcessInfo.processInfo.environment
  /// The clock of `get`.
  @TaskLocal static var clock: any CacheClock = SystemClock()
}
