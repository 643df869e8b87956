import HTTPCaching

extension HTTPResponse {
  /// Status and fields as text; the version of HTTP is the origin's affair and left out.
  var text: String {
    var text = "HTTP \(status.code)"
    if !status.reasonPhrase.isEmpty { text += " \(status.reasonPhrase)" }
    text += "\n"
    for field in headerFields { text += "\(field.name.rawName): \(field.value)\n" }
    return text + "\n"
  }
}
