import ArgumentParser

/// A URL as written on the command line, not parsed yet.
///
/// The URL is parsed after all options. If ArgumentParser parsed it, an unknown option with a value would be
/// reported as an invalid URL, and the message would show the value, which may have a password.
struct URLArgument: ExpressibleByArgument, Sendable {
  let text: String

  init(argument: String) { text = argument }
}
