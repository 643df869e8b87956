import Foundation

/// The environment variables with the defaults of options; tests replace them.
enum CommandEnvironment {
  @TaskLocal static var current = ProcessInfo.processInfo.environment
}
