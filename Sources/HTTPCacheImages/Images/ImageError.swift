public import Foundation

/// Why there is no image.
public enum ImageError: Error, Sendable, Hashable {
  /// The text is not an absolute http or https URL.
  case invalidURL(String)
  /// The origin answered with a status other than 200 and 203.
  case status(Int)
  /// Nothing that may be used is stored, and the request forbids asking the origin (`CachePolicy.cacheOnly`).
  case notStored
  /// No decoder recognises the bytes: they are no image, or one of a format without a decoder.
  case notAnImage(contentType: String?)
  /// A decoder recognises the format, but not this kind of it.
  case unsupported(String)
  /// The bytes end too early.
  case truncated
  /// The bytes break the rules of their format.
  case damaged(String)
  /// Width or height is zero.
  case emptyImage
  /// The image, or the result of a processor, has more pixels than the limit.
  case tooManyPixels(width: Int, height: Int, limit: Int)
  /// The response body is longer than the limit in bytes.
  case tooManyBytes(limit: Int)
  /// A processor threw: its key, and a description of the error.
  case processorFailed(key: String, message: String)
  /// An encoder failed.
  case encodingFailed(String)
  /// The task that decodes was cancelled.
  case cancelled
}

extension ImageError {
  /// Decoders call this between rows, pictures, or what else they can stop at.
  ///
  /// - Throws: `ImageError.cancelled` if the task was cancelled.
  static func checkCancellation() throws(ImageError) {
    if Task.isCancelled { throw .cancelled }
  }
}

extension ImageError: CustomStringConvertible {
  /// The error in words.
  public var description: String {
    switch self {
    case .invalidURL(let url): "'\(url)' is not an absolute http or https URL"
    case .status(let code): "the origin answered \(code)"
    case .notStored: "the image is not stored, and the origin must not be asked"
    case .notAnImage(let type?): "the response of type \(type) is no image that a decoder recognises"
    case .notAnImage(nil): "the response is no image that a decoder recognises"
    case .unsupported(let what): "\(what) is not supported"
    case .truncated: "the image is cut short"
    case .damaged(let what): "the image is damaged: \(what)"
    case .emptyImage: "the image has no pixels"
    case .tooManyPixels(let width, let height, let limit):
      "\(width) x \(height) pixels are more than the limit of \(limit)"
    case .tooManyBytes(let limit): "the image is longer than the limit of \(limit) bytes"
    case .processorFailed(let key, let message): "the processor \(key) failed: \(message)"
    case .encodingFailed(let message): "the image cannot be encoded: \(message)"
    case .cancelled: "decoding was cancelled"
    }
  }
}

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension ImageError: LocalizedError {
  /// The error in words.
  public var errorDescription: String? { description }
}
