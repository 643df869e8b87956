#if ImageCodecs
  import CWebP
  public import HTTPCaching

  /// Decodes WebP with libwebp: lossy and lossless, all pictures of an animation or the first one.
  public struct WebPDecoder: AnimationDecoder {
    /// Makes a decoder.
    public init() {}

    /// Whether bytes begin like WebP.
    public func recognizes(_ bytes: BodyBytes) -> Bool {
      bytes.prefix(4).array == Array("RIFF".utf8) && bytes[8..<12].array == Array("WEBP".utf8)
    }

    /// The size of the image, upright.
    ///
    /// - Throws: `ImageError`.
    public func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize {
      let features = try Self.features(bytes)
      let size = ImageSize(width: Int(features.width), height: Int(features.height))
      return Self.metadata(bytes).orientation.isTransposed ? size.transposed : size
    }

    /// Decodes the image.
    ///
    /// - Throws: `ImageError`.
    public func decode(
      _ bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> DecodedImage {
      let features = try Self.features(bytes)
      let size = ImageSize(width: Int(features.width), height: Int(features.height))
      try size.check(pixelLimit: options.pixelLimit)
      try ImageError.checkCancellation()
      let metadata = Self.metadata(bytes)
      var isComplete = false
      let pixels = DecodedImage.makePixels(size) { target in
        // The first frame of an animation need not cover it.
        target.update(repeating: .zero, count: size.width * size.height)
        isComplete =
          features.has_animation != 0
          ? Self.decodeFirstFrame(bytes, size, into: target)
          : bytes.withUnsafeBytes { Self.decode($0, size, width: size.width, into: target) }
      }
      guard isComplete else {
        throw Self.isCutShort(bytes) ? .truncated : .damaged("libwebp cannot decode it")
      }
      return try DecodedImage(
        size: size, pixels: pixels, colorSpace: ImageColorSpace(profile: metadata.profile),
        isOpaque: features.has_alpha == 0 && features.has_animation == 0
      ).upright(from: metadata.orientation, original: size)
    }

    /// Decodes all pictures.
    ///
    /// - Throws: `ImageError`.
    public func frames(
      of bytes: BodyBytes, options: ImageDecodingOptions
    ) throws(ImageError) -> [ImageFrame] {
      guard try Self.features(bytes).has_animation != 0 else {
        return [ImageFrame(image: try decode(bytes, options: options), duration: .zero)]
      }
      let metadata = Self.metadata(bytes)
      let space = ImageColorSpace(profile: metadata.profile)
      return try bytes.withUnsafeBytes { (buffer) throws(ImageError) in
        try WebPAnimation(buffer, pixelLimit: options.pixelLimit).frames(
          colorSpace: space, orientation: metadata.orientation)
      }
    }

    private static func features(_ bytes: BodyBytes) throws(ImageError) -> WebPBitstreamFeatures {
      var features = WebPBitstreamFeatures()
      let status = bytes.withUnsafeBytes {
        WebPGetFeatures($0.bindMemory(to: UInt8.self).baseAddress, $0.count, &features)
      }
      switch status {
      case VP8_STATUS_OK: return features
      case VP8_STATUS_NOT_ENOUGH_DATA: throw .truncated
      case VP8_STATUS_UNSUPPORTED_FEATURE: throw .unsupported("this kind of WebP")
      default: throw .damaged("its header breaks the rules")
      }
    }

    /// - Parameter width: pixels from one row of the target to the next.
    private static func decode(
      _ bytes: UnsafeRawBufferPointer, _ size: ImageSize, width: Int,
      into target: UnsafeMutablePointer<SIMD4<UInt8>>
    ) -> Bool {
      let space = ((size.height - 1) * width + size.width) * 4
      return target.withMemoryRebound(to: UInt8.self, capacity: space) {
        WebPDecodeRGBAInto(
          bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, $0, space, Int32(width * 4)) != nil
      }
    }

    private static func decodeFirstFrame(
      _ bytes: BodyBytes, _ size: ImageSize, into target: UnsafeMutablePointer<SIMD4<UInt8>>
    ) -> Bool {
      bytes.withUnsafeBytes { buffer in
        var data = WebPData(bytes: buffer.bindMemory(to: UInt8.self).baseAddress, size: buffer.count)
        guard let demuxer = WebPDemux(&data) else { return false }
        defer { WebPDemuxDelete(demuxer) }
        var frame = WebPIterator()
        guard WebPDemuxGetFrame(demuxer, 1, &frame) != 0 else { return false }
        defer { WebPDemuxReleaseIterator(&frame) }
        let (x, y) = (Int(frame.x_offset), Int(frame.y_offset))
        let part = ImageSize(width: Int(frame.width), height: Int(frame.height))
        guard x >= 0, y >= 0, part.width > 0, part.height > 0, x + part.width <= size.width,
          y + part.height <= size.height
        else { return false }
        return decode(
          UnsafeRawBufferPointer(start: frame.fragment.bytes, count: frame.fragment.size), part,
          width: size.width, into: target + (y * size.width + x))
      }
    }

    private static func isCutShort(_ bytes: BodyBytes) -> Bool {
      let length = bytes[4..<8].array.reversed().reduce(0) { $0 << 8 | Int($1) }
      return bytes.count < length + 8
    }

    private static func metadata(_ bytes: BodyBytes) -> (orientation: ImageOrientation, profile: BodyBytes?) {
      let exif = WebPChunks.data(of: .exif, in: bytes)
      let profile = WebPChunks.data(of: .profile, in: bytes)
      return (ImageOrientation(exif: exif.map { tiff(in: $0) } ?? []), profile.map { BodyBytes($0) })
    }

    /// EXIF data without the prefix that some programs write.
    private static func tiff(in data: [UInt8]) -> ArraySlice<UInt8> {
      data.starts(with: Array("Exif\0\0".utf8)) ? data.dropFirst(6) : data[...]
    }
  }
#endif
