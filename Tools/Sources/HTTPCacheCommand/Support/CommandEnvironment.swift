import Foundation

/// The environment variables that options default to; tests put their own in their place.
enum CommandEnvironment {
  @TaskLocal static var current = ProcessInfo.processInfo.environment
}
