import Foundation
import HTTPCaching

/// Where bodies go.
extension GetCommand {
  func writesToTerminal(_ destinations: [Output.Destination]) -> Bool {
    guard let destination = destinations.first, destinations.count == 1 else { return false }
    return (try? Output.isTerminal(destination)) ?? false
  }

  /// Refuses to write a report and a body to one stream.
  func checkOutput() throws {
    guard json, let output, Output.isStandardOutput(output) else { return }
    Console.report(
      "httpcache: --json writes its report to standard output, which \(output) is too; "
        + "name another file with -o")
    throw ExitStatus.usage.code
  }

  /// The outputs of the bodies, in the order of the URLs.
  func destinations(of urls: [TargetURL]) -> [Output.Destination] {
    if let output { return [output == "-" ? .standardOutput : .file(output)] }
    guard usesRemoteName else {
      return urls.count == 1 && !json
        ? [.standardOutput] : urls.map { _ in .nowhere }
    }
    var taken: Set<String> = []
    return urls.map { url in
      let name = FileName.unique(FileName.safe(from: url.path), isTaken: taken.contains)
      taken.insert(name)
      return .file(name)
    }
  }

  /// Refuses to write two bodies to one file, which links may give two names.
  ///
  /// - Throws: the exit status of wrong usage.
  func checkDistinct(_ destinations: [Output.Destination]) throws {
    var names: [String: String] = [:]
    for case .file(let name) in destinations {
      guard let place = try? OutputPlace(name), let file = place.identity else { continue }
      if let other = names.updateValue(name, forKey: file) {
        Console.report(
          "httpcache: \(other) and \(name) are one file, and each URL needs one of its own; remove the link, or "
            + "fetch the URLs one by one with -o")
        throw ExitStatus.usage.code
      }
    }
  }

  /// Makes missing folders with `--create-dirs`. Writing into a folder that cannot be made fails and says so.
  func makeFolders(of destinations: [Output.Destination]) {
    guard createsFolders else { return }
    for case .file(let path) in destinations {
      let folder = OutputPlace.folder(of: path)
      guard !folder.isEmpty else { continue }
      try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
  }
}

extension HTTPResponse {
  /// Status and fields as text, without the version of HTTP.
  var text: String {
    var text = "HTTP \(status.code)"
    if !status.reasonPhrase.isEmpty { text += " \(status.reasonPhrase)" }
    text += "\n"
    for field in headerFields { text += "\(field.name.rawName): \(field.value)\n" }
    return text + "\n"
  }
}
