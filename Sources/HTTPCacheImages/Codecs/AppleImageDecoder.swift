#if canImport(ImageIO)
  import CoreGraphics
  import Foundation
  public import HTTPCaching
  import ImageIO

  /// Decodes what ImageIO can. Always decodes to sRGB.
  public struct AppleImageDecoder: ImageDecoder {
    /// Makes a decoder.
    public init() {}

    /// Whether ImageIO recognises the bytes.
    public func recognizes(_ bytes: BodyBytes) -> Bool {
      Self.source(bytes).flatMap { CGImageSourceGetType($0) } != nil
    }

    /// The size of the image, upright.
    ///
    /// - Throws: `ImageError`.
    public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
      let (size, orientation) = try Self.header(Self.source(bytes))
      return orientation.isTransposed ? size.transposed : size
    }

    /// Decodes the image; reduced if `ImageDecodingOptions.neededSize` allows it.
    ///
    /// - Throws: `ImageError`.
    public func decode(
      _ bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> DecodedImage {
      guard let source = Self.source(bytes) else { throw .truncated }
      let (stored, orientation) = try Self.header(source)
      try stored.check(pixelLimit: options.pixelLimit)
      guard CGImageSourceGetStatusAtIndex(source, 0) == .statusComplete else {
        throw .truncated
      }
      var settings: [CFString: Any] = [
        kCGImageSourceCreateThumbnailFromImageAlways: true,
        kCGImageSourceThumbnailMaxPixelSize: max(stored.width, stored.height),
      ]
      if let needed = options.neededSize {
        let factor = max(
          Double(needed.width) / Double(stored.width), Double(needed.height) / Double(stored.height))
        let reduced = (Double(max(stored.width, stored.height)) * min(1, factor * 2)).rounded(.up)
        settings[kCGImageSourceThumbnailMaxPixelSize] = Int(reduced)
      }
      guard let image = CGImageSourceCreateThumbnailAtIndex(source, 0, settings as CFDictionary) else {
        throw .damaged("ImageIO cannot decode it")
      }
      return try Self.pixels(of: image).upright(from: orientation, original: stored)
    }

    private static func source(_ bytes: BodyBytes) -> CGImageSource? {
      CGImageSourceCreateWithData(Data(bytes.array) as CFData, nil)
    }

    private static func header(_ source: CGImageSource?) throws(ImageError) -> (ImageSize, ImageOrientation) {
      guard let source,
        let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
        let width = properties[kCGImagePropertyPixelWidth] as? Int,
        let height = properties[kCGImagePropertyPixelHeight] as? Int
      else { throw .truncated }
      let orientation = properties[kCGImagePropertyOrientation] as? Int
      return (
        ImageSize(width: width, height: height),
        orientation.flatMap(ImageOrientation.init(rawValue:)) ?? .up
      )
    }

    private static func pixels(of image: CGImage) throws(ImageError) -> DecodedImage {
      let size = ImageSize(width: image.width, height: image.height)
      var isDrawn = false
      let pixels = DecodedImage.makePixels(size) { target in
        let space = CGColorSpace(name: CGColorSpace.sRGB) ?? CGColorSpaceCreateDeviceRGB()
        guard
          let context = CGContext(
            data: target, width: size.width, height: size.height, bitsPerComponent: 8,
            bytesPerRow: size.width * 4, space: space,
            bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
        else { return }
        context.clear(CGRect(x: 0, y: 0, width: size.width, height: size.height))
        context.draw(image, in: CGRect(x: 0, y: 0, width: size.width, height: size.height))
        // Core Graphics draws premultiplied only.
        for index in 0..<size.width * size.height where target[index].w != 0 && target[index].w != 255 {
          target[index] = DecodedImage.straight(target[index])
        }
        isDrawn = true
      }
      guard isDrawn else { throw .damaged("Core Graphics cannot draw it") }
      return try DecodedImage(size: size, pixels: pixels)
    }
  }
#endif
