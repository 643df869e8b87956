#if Redis
  import HTTPCacheSemantics
  import HTTPCacheStore

  /// The binary form of a selection, for the log of changes. A node of an earlier version takes a kind that it does not
  /// know as everything.
  enum SelectionCodec {
    private enum Kind: UInt8 {
      case all, partition, key, variant, target, prefix, site, group, storedSince, unusedSince, storedBefore
    }

    static func encode(_ selection: CacheSelection) -> [UInt8] {
      var writer = BinaryWriter()
      func kind(_ kind: Kind) { writer.byte(kind.rawValue) }
      switch selection {
      case .all: kind(.all)
      case .partition(let mode, let name):
        kind(.partition)
        writer.byte(mode.rawValue)
        writer.text(name)
      case .key(let key):
        kind(.key)
        RecordCodec.write(key, to: &writer)
      case .variant(let key, let sequence):
        kind(.variant)
        RecordCodec.write(key, to: &writer)
        writer.unsigned(sequence)
      case .target(let target):
        kind(.target)
        writer.text(target)
      case .prefix(let prefix):
        kind(.prefix)
        writer.text(prefix)
      case .site(let origin, let mode, let partition):
        kind(.site)
        writer.text(origin)
        writer.byte(mode.rawValue)
        writer.text(partition)
      case .group(let origin, let name):
        kind(.group)
        writer.text(origin)
        writer.text(name)
      case .storedSince(let time):
        kind(.storedSince)
        writer.signed(time.seconds)
      case .unusedSince(let time):
        kind(.unusedSince)
        writer.signed(time.seconds)
      case .storedBefore(let time):
        kind(.storedBefore)
        writer.signed(time.seconds)
      }
      return writer.output
    }

    /// Nil for anything that this version does not encode.
    static func decode(_ bytes: [UInt8]) -> CacheSelection? {
      try? bytes.withUnsafeBufferPointer { (bytes) throws(CacheError) in
        var reader = BinaryReader(UnsafeRawBufferPointer(bytes))
        let selection = try read(&reader)
        guard reader.remaining == 0 else { throw BinaryReader.damaged("bytes after a selection") }
        return selection
      }
    }

    private static func read(_ reader: inout BinaryReader) throws(CacheError) -> CacheSelection {
      guard let kind = Kind(rawValue: try reader.byte()) else {
        throw BinaryReader.damaged("unknown selection")
      }
      switch kind {
      case .all: return .all
      case .partition: return .partition(mode: try mode(&reader), try reader.text())
      case .key: return .key(try RecordCodec.readKey(&reader))
      case .variant: return .variant(try RecordCodec.readKey(&reader), sequence: try reader.unsigned())
      case .target: return .target(try reader.text())
      case .prefix: return .prefix(try reader.text())
      case .site:
        return .site(origin: try reader.text(), mode: try mode(&reader), partition: try reader.text())
      case .group: return .group(origin: try reader.text(), name: try reader.text())
      case .storedSince: return .storedSince(Timestamp(seconds: try reader.signed()))
      case .unusedSince: return .unusedSince(Timestamp(seconds: try reader.signed()))
      case .storedBefore: return .storedBefore(Timestamp(seconds: try reader.signed()))
      }
    }

    private static func mode(_ reader: inout BinaryReader) throws(CacheError) -> CacheMode {
      guard let mode = CacheMode(rawValue: try reader.byte()) else {
        throw BinaryReader.damaged("unknown mode")
      }
      return mode
    }
  }
#endif
