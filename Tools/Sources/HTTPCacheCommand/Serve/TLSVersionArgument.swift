import ArgumentParser

/// A version of TLS on the command line.
enum TLSVersionArgument: String, CaseIterable, ExpressibleByArgument {
  case tls12 = "1.2"
  case tls13 = "1.3"
}
