#if ImageCodecs
  import CGif
  import HTTPCacheLibC
  import HTTPCaching

  /// Reads the pictures of a GIF file with giflib, one after the other, onto one canvas (GIF89a).
  final class GIFReader {
    /// The change of the canvas after a picture (GIF89a §23).
    private enum Disposal {
      case stays
      case cleared
      case undone
    }

    /// The bytes that giflib has not read yet.
    private struct Source {
      var bytes: UnsafeRawBufferPointer
    }

    private struct Control {
      var disposal = Disposal.stays
      var transparent: Int?
      var duration = Duration.zero
    }

    private let file: UnsafeMutablePointer<GifFileType>
    private let source: UnsafeMutablePointer<Source>
    private var control = Control()
    private var isAtPicture = false
    private var hasDrawn = false
    /// The pixels of the pictures so far, on the canvas or not: each is decoded.
    private var pixels = 0
    /// The minimum that a picture after the first counts for, in pixels: it takes memory of its own.
    private static let leastPixels = 64
    /// The size of the canvas. A first picture that is larger than the screen of the file enlarges it, as in browsers.
    let size: ImageSize

    /// Reads up to the first picture.
    ///
    /// - Parameter bytes: must live longer than the reader.
    /// - Throws: `ImageError`.
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
      let source = UnsafeMutablePointer<Source>.allocate(capacity: 1)
      source.initialize(to: Source(bytes: bytes))
      var code: Int32 = 0
      let opened = DGifOpen(
        source,
        { file, target, count in
          guard let source = file?.pointee.UserData?.assumingMemoryBound(to: Source.self), let target,
            count > 0
          else { return 0 }
          let part = source.pointee.bytes.prefix(Int(count))
          UnsafeMutableRawPointer(target).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: part).baseAddress ?? UnsafeRawPointer(target),
            byteCount: part.count)
          source.pointee.bytes = UnsafeRawBufferPointer(rebasing: source.pointee.bytes.dropFirst(part.count))
          return Int32(part.count)
        }, &code)
      guard let opened else {
        source.deallocate()
        throw Self.error(code)
      }
      (file, self.source) = (opened, source)
      do throws(ImageError) {
        var control = Control()
        guard try Self.findPicture(opened, &control) else { throw .damaged("it has no picture") }
        self.control = control
        isAtPicture = true
        let picture = opened.pointee.Image
        size = ImageSize(
          width: max(Int(opened.pointee.SWidth), Int(picture.Left) + Int(picture.Width)),
          height: max(Int(opened.pointee.SHeight), Int(picture.Top) + Int(picture.Height)))
      } catch {
        DGifCloseFile(opened, nil)
        source.deallocate()
        throw error
      }
    }

    deinit {
      DGifCloseFile(file, nil)
      source.deallocate()
    }

    /// Draws the next picture onto the canvas.
    ///
    /// - Parameters:
    ///   - canvas: `size.width * size.height` pixels, transparent at first.
    ///   - pixelLimit: the maximum number of pixels of all pictures together, also of those beyond the canvas.
    ///   - show: called with the duration of the picture while the canvas shows it.
    /// - Returns: false at the end of the file, also of a file without a trailer.
    /// - Throws: `ImageError`.
    func next(
      on canvas: UnsafeMutablePointer<SIMD4<UInt8>>, pixelLimit: Int,
      show: (Duration) throws(ImageError) -> Void
    ) throws(ImageError) -> Bool {
      if !isAtPicture {
        // All pictures are there, and only the trailer is missing: giflib has an error for it, browsers have none.
        if source.pointee.bytes.isEmpty { return false }
        control = Control()
        guard try Self.findPicture(file, &control) else { return false }
      }
      isAtPicture = false
      try countPixels(limit: pixelLimit)
      let count = size.width * size.height
      let before = control.disposal == .undone ? Array(UnsafeBufferPointer(start: canvas, count: count)) : []
      try draw(canvas)
      try show(control.duration)
      switch control.disposal {
      case .stays: break
      case .cleared:
        let picture = file.pointee.Image
        for row in 0..<Int(picture.Height) where Int(picture.Top) + row < size.height {
          let columns = max(0, min(Int(picture.Width), size.width - Int(picture.Left)))
          (canvas + (Int(picture.Top) + row) * size.width + min(Int(picture.Left), size.width))
            .update(repeating: .zero, count: columns)
        }
      case .undone:
        before.withUnsafeBufferPointer {
          if let base = $0.baseAddress { canvas.update(from: base, count: count) }
        }
      }
      return true
    }

    private func countPixels(limit: Int) throws(ImageError) {
      let (width, height) = (Int(file.pointee.Image.Width), Int(file.pointee.Image.Height))
      pixels += max(width * height, hasDrawn ? Self.leastPixels : 0)
      hasDrawn = true
      guard pixels <= limit else { throw .tooManyPixels(width: width, height: height, limit: limit) }
    }

    /// The rows of an interlaced picture come in four passes (GIF89a, appendix E).
    private static let passes = [(0, 8), (4, 8), (2, 4), (1, 2)]

    private func draw(_ canvas: UnsafeMutablePointer<SIMD4<UInt8>>) throws(ImageError) {
      let picture = file.pointee.Image
      let (width, height) = (Int(picture.Width), Int(picture.Height))
      guard width > 0, height > 0 else { return }
      guard let map = picture.ColorMap ?? file.pointee.SColorMap, let colors = map.pointee.Colors else {
        throw .damaged("it has no colors")
      }
      let palette = (0..<Int(map.pointee.ColorCount)).map { index in
        SIMD4(
          colors[index].Red, colors[index].Green, colors[index].Blue, index == control.transparent ? 0 : 255)
      }
      var row = [GifPixelType](repeating: 0, count: width)
      let passes = picture.Interlace ? Self.passes : [(0, 1)]
      for (first, step) in passes {
        for y in stride(from: first, to: height, by: step) {
          try ImageError.checkCancellation()
          guard DGifGetLine(file, &row, Int32(width)) == GIF_OK else { throw Self.error(file.pointee.Error) }
          let place = Int(picture.Top) + y
          guard place < size.height else { continue }
          for x in 0..<width where Int(picture.Left) + x < size.width {
            // An index without a color draws nothing, as in browsers.
            guard Int(row[x]) < palette.count, palette[Int(row[x])].w != 0 else { continue }
            canvas[place * size.width + Int(picture.Left) + x] = palette[Int(row[x])]
          }
        }
      }
    }

    /// Reads extensions up to the next picture.
    ///
    /// - Returns: false at the end of the file.
    private static func findPicture(
      _ file: UnsafeMutablePointer<GifFileType>, _ control: inout Control
    ) throws(ImageError) -> Bool {
      while true {
        try ImageError.checkCancellation()
        var type = UNDEFINED_RECORD_TYPE
        guard DGifGetRecordType(file, &type) == GIF_OK else { throw error(file.pointee.Error) }
        switch type {
        case IMAGE_DESC_RECORD_TYPE:
          guard DGifGetImageDesc(file) == GIF_OK else {
            // giflib has the error of a failed read also for a code size that it does not take.
            guard file.pointee.Error != D_GIF_ERR_READ_FAILED || isAtEnd(file) else {
              throw .unsupported("GIF: a code size of more than 8 bits")
            }
            throw error(file.pointee.Error)
          }
          guard file.pointee.Image.Left >= 0, file.pointee.Image.Top >= 0 else {
            throw .damaged("a picture is outside of the screen")
          }
          return true
        case EXTENSION_RECORD_TYPE: try readExtension(file, &control)
        case TERMINATE_RECORD_TYPE: return false
        default: break
        }
      }
    }

    /// Whether giflib has read all bytes.
    private static func isAtEnd(_ file: UnsafeMutablePointer<GifFileType>) -> Bool {
      file.pointee.UserData?.assumingMemoryBound(to: Source.self).pointee.bytes.isEmpty ?? true
    }

    private static func readExtension(
      _ file: UnsafeMutablePointer<GifFileType>, _ control: inout Control
    ) throws(ImageError) {
      var code: Int32 = 0
      var block: UnsafeMutablePointer<GifByteType>?
      guard DGifGetExtension(file, &code, &block) == GIF_OK else { throw error(file.pointee.Error) }
      while let bytes = block {
        // The first byte is the length.
        if code == GRAPHICS_EXT_FUNC_CODE, bytes[0] >= 4 {
          let flags = bytes[1]
          control.disposal = flags >> 2 & 7 == 2 ? .cleared : flags >> 2 & 7 == 3 ? .undone : .stays
          control.transparent = flags & 1 == 1 ? Int(bytes[4]) : nil
          control.duration = .milliseconds(10 * (Int(bytes[2]) | Int(bytes[3]) << 8))
        }
        guard DGifGetExtensionNext(file, &block) == GIF_OK else { throw error(file.pointee.Error) }
      }
    }

    private static func error(_ code: Int32) -> ImageError {
      switch code {
      // giflib sets no error where the bytes end before the code size of a picture.
      case D_GIF_SUCCEEDED, D_GIF_ERR_READ_FAILED, D_GIF_ERR_EOF_TOO_SOON, D_GIF_ERR_NO_SCRN_DSCR: .truncated
      default: .damaged(GifErrorString(code).map { String(cString: $0) } ?? "giflib cannot decode it")
      }
    }
  }
#endif
