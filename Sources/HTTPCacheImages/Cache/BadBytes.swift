import HTTPCaching

/// An error of a decoder, in contrast to one of a processor.
struct BadBytes: Error {
  let error: ImageError
  let bytes: BodyBytes

  /// Whether the bytes are no image that another program could show.
  var isNoImage: Bool {
    switch error {
    case .truncated, .damaged, .emptyImage: true
    case .notAnImage: !ContentSniffer.isImage(bytes)
    case .invalidURL, .status, .notStored, .unsupported, .tooManyPixels, .tooManyBytes, .processorFailed,
      .encodingFailed:
      false
    }
  }
}
