public import HTTPCaching

/// How the numbers of the pixels are to be seen.
public enum ImageColorSpace: Sendable {
  /// sRGB, or an image that does not tell.
  case sRGB
  /// The ICC profile of the file, unchanged. The pixels are not converted.
  case profile(BodyBytes)
}
