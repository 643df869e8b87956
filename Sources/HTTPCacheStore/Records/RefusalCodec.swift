package import HTTPCacheSemantics

/// The binary form of the steps of a `RefusalNote`, in the encoding of `RecordCodec`: their number, then
/// question, answer and section of each. Text that is too long is cut.
package enum RefusalCodec {
  /// The maximum number of steps that are written or read, and the longest text in bytes.
  package static let mostSteps = 32
  package static let longestText = 1_024

  /// Encodes the steps of an explanation, with shorter texts if the encoding would be longer than `bytes`.
  package static func encode(_ explanation: CacheExplanation, within bytes: Int = .max) -> [UInt8] {
    var longest = longestText
    var output = encode(explanation, longestText: longest)
    while output.count > bytes, longest > 1 {
      longest /= 2
      output = encode(explanation, longestText: longest)
    }
    return output
  }

  private static func encode(_ explanation: CacheExplanation, longestText: Int) -> [UInt8] {
    var writer = BinaryWriter()
    var steps = explanation.steps
    // Keep the last step: it is the reason.
    if steps.count > mostSteps { steps.removeSubrange((mostSteps - 1)..<(steps.count - 1)) }
    writer.count(steps.count)
    for step in steps {
      writer.text(cut(step.question, to: longestText))
      writer.text(cut(step.answer, to: longestText))
      writer.text(cut(step.section, to: longestText))
    }
    return writer.output
  }

  /// Decodes steps.
  ///
  /// - Parameter bytes: untrusted bytes.
  /// - Throws: `CacheError.damaged` for anything but whole steps.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws(CacheError) -> CacheExplanation {
    var reader = BinaryReader(bytes)
    let count = try reader.count(ofSize: 3)
    guard count <= mostSteps else { throw BinaryReader.damaged("\(count) steps") }
    var explanation = CacheExplanation()
    for _ in 0..<count {
      let question = try text(&reader)
      let answer = try text(&reader)
      explanation.steps.append(
        CacheExplanation.Step(question, answer, section: try text(&reader)))
    }
    guard reader.remaining == 0 else { throw BinaryReader.damaged("bytes after its end") }
    return explanation
  }

  private static func text(_ reader: inout BinaryReader) throws(CacheError) -> String {
    let text = try reader.text()
    guard text.utf8.count <= longestText else { throw BinaryReader.damaged("text too long") }
    return text
  }

  private static func cut(_ text: String, to longestText: Int) -> String {
    guard text.utf8.count > longestText else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: longestText)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text[..<end])
  }
}
