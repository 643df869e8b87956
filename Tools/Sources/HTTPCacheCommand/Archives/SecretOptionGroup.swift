import ArgumentParser
import HTTPCacheArchives
import HTTPTypes

/// `--strip-field` and `--strip-parameter`: secrets that are not written, beside credentials and cookies.
struct SecretOptionGroup: ParsableArguments {
  @Option(help: ArgumentHelp("Do not write this field; repeat for several.", valueName: "name"))
  var stripField: [String] = []

  @Option(
    help: ArgumentHelp(
      "Write 'removed' for the value of this parameter of queries; repeat for several.", valueName: "name"))
  var stripParameter: [String] = []

  var secrets: RecordingSecrets {
    var secrets = RecordingSecrets(queryParameters: Set(stripParameter))
    secrets.fields.formUnion(stripField.compactMap { HTTPField.Name($0) })
    return secrets
  }

  func validate() throws {
    for name in stripField where HTTPField.Name(name) == nil {
      throw ValidationError("not the name of a field: \(name)")
    }
  }
}
