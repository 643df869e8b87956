import ArgumentParser
import Foundation
import HTTPCaching

/// The options that make the content of a request, spelled as curl's.
struct ContentOptionGroup: ParsableArguments {
  @Option(
    name: [.customShort("d", allowingJoined: true), .long, .customLong("data-ascii")],
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Content: text, or @FILE without its line ends (@- is standard input); makes the request a POST. "
        + "Several are joined with &. Content-Type is application/x-www-form-urlencoded unless -H sets it.",
      valueName: "data"),
    transform: { DataArgument(.text, $0) })
  var data: [DataArgument] = []

  @Option(
    name: .customLong("data-binary"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Like -d, but @FILE is sent unchanged.", valueName: "data"),
    transform: { DataArgument(.binary, $0) })
  var dataBinary: [DataArgument] = []

  @Option(
    name: .customLong("data-raw"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Like -d, but @ has no special meaning.", valueName: "data"),
    transform: { DataArgument(.raw, $0) })
  var dataRaw: [DataArgument] = []

  @Option(
    name: .customLong("data-urlencode"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Like -d, but percent-encoded: text, name=text, @FILE or name@FILE.", valueName: "data"),
    transform: { DataArgument(.urlEncoded, $0) })
  var dataURLEncoded: [DataArgument] = []

  @Flag(name: [.customShort("G"), .customLong("get")], help: "Add the data of -d to the query instead.")
  var isQuery = false

  @Option(
    name: [.customShort("T", allowingJoined: true), .customLong("upload-file")],
    help: ArgumentHelp(
      "Send this file with PUT; - is standard input. A URL that ends in / gets the file's name.",
      valueName: "path"))
  var uploadFile: String?

  /// All data, in any order.
  var parts: [DataArgument] { data + dataBinary + dataRaw + dataURLEncoded }

  func validate() throws {
    if uploadFile != nil, !parts.isEmpty { throw ValidationError("-T and -d exclude each other") }
    if isQuery, uploadFile != nil { throw ValidationError("-G takes the data of -d, not a file of -T") }
  }
}
