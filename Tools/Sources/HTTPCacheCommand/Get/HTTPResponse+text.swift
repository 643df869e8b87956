import HTTPCaching

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
