import ArgumentParser

/// A URL as it stands on the command line.
///
/// It is read after all options: ArgumentParser reports a value that cannot be read before an unknown option,
/// so that the value of an unknown option would be called a URL that is none. It also shows the value, in
/// which a password may be.
struct URLArgument: ExpressibleByArgument, Sendable {
  let text: String

  init(argument: String) { text = argument }
}
