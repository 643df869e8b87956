import HTTPCaching

/// The content of a request in a form that Foundation takes without holding all of it in memory: short
/// content as data, longer content as a file.
struct UploadContent: Sendable {
  enum Form: Sendable {
    case data(Data)
    case file(URL)
  }

  /// The longest content in bytes that stays in memory.
  private static let memoryLimit = 1 << 20

  let form: Form
  /// Removes the file when the last user releases the content.
  private let temporary: TemporaryFile?

  /// Reads a body to its end.
  ///
  /// - Throws: what the body throws; `CocoaError` if the temporary file cannot be written.
  init(_ body: MessageBody) async throws {
    if let source = body.source as? FileBodySource {
      form = .file(source.url)
      temporary = nil
      return
    }
    var head: [BodyBytes] = []
    var count = 0
    var file: (temporary: TemporaryFile, handle: FileHandle)?
    for try await bytes in body {
      count += bytes.count
      if let file {
        try file.handle.write(contentsOf: Data(bytes))
        continue
      }
      head.append(bytes)
      if count > Self.memoryLimit {
        let temporary = TemporaryFile()
        try temporary.make()
        let handle = try FileHandle(forWritingTo: temporary.url)
        for bytes in head { try handle.write(contentsOf: Data(bytes)) }
        head = []
        file = (temporary, handle)
      }
    }
    if let file {
      try file.handle.close()
      temporary = file.temporary
      form = .file(file.temporary.url)
    } else {
      temporary = nil
      form = .data(head.reduce(into: Data(capacity: count)) { $0.append(Data($1)) })
    }
  }
}
