import ArgumentParser
import HTTPCacheProxy

/// The options of `serve --upstream`.
struct GatewayOptions: ParsableArguments {
  @Flag(help: "Send the client's Host to the origin, instead of the origin's own name.")
  var preserveHost = false

  @Option(
    help: ArgumentHelp(
      "A proxy in front of this one, such as 10.0.0.0/8, whose X-Forwarded-* and Forwarded fields count. Those of other clients are dropped. May be repeated.",
      valueName: "cidr"), transform: AddressRange.parsed)
  var trustForwarded: [AddressRange] = []
}

extension AddressRange: ExpectedArgument {
  static let expected = "an address or a range of addresses, such as 192.0.2.1 or 10.0.0.0/8"

  init?(argument: String) { self.init(argument) }
}
