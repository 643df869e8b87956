import HTTPCacheLibC
import HTTPCacheStore
import HTTPCacheTesting

/// A stored body of a store with a fault.
final class BrokenBody: StoredBody {
  private let base: StoredVariant
  private let fault: BrokenStore.Fault
  private let files: BrokenFiles?

  init(_ base: StoredVariant, fault: BrokenStore.Fault, files: BrokenFiles?) {
    self.base = base
    self.fault = fault
    self.files = files
  }

  func open() throws(CacheError) -> any BodyReader {
    BrokenReader(try base.body.open(), fault: fault, file: files?.file(of: base))
  }
}

/// An open body of a store with a fault.
final class BrokenReader: BodyReader {
  private let base: any BodyReader
  private let fault: BrokenStore.Fault
  private let file: ScratchFile?
  private let descriptor: Int32

  /// - Parameter file: where the body is as well.
  init(_ base: any BodyReader, fault: BrokenStore.Fault, file: ScratchFile?) {
    self.base = base
    self.fault = fault
    self.file = file
    descriptor = file.map { open($0.path, O_RDONLY | O_CLOEXEC) } ?? -1
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  var length: Int64? { base.length }
  var availableRanges: [Range<Int64>] { base.availableRanges }
  var bytesInMemory: BodyBytes? { file == nil ? base.bytesInMemory : nil }

  var fileRegion: FileRegion? {
    guard descriptor >= 0, let length else { return nil }
    return FileRegion(
      descriptor: descriptor, offset: fault == .wrongRegion ? 1 : 0, count: length,
      isVerified: false)
  }

  func isVerified(_ range: Range<Int64>) -> Bool {
    if fault == .verifiesNoFile { return true }
    guard descriptor >= 0, let length, let bytes = base.bytesInMemory else { return false }
    if fault == .verifiesBeyondTheEnd { return range.lowerBound < length }
    guard range.upperBound <= length else { return false }
    if fault == .verifiesDamage { return true }
    let found = ScratchFile.bytes(of: descriptor, at: range.lowerBound, count: range.count)
    return found == bytes[Int(range.lowerBound)..<Int(range.upperBound)].array
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    guard fault == .readsDamage || fault == .clonesByLink, descriptor >= 0, let length else {
      return try await base.read(range)
    }
    let range = range.clamped(to: 0..<length)
    let bytes = ScratchFile.bytes(of: descriptor, at: range.lowerBound, count: range.count)
    guard let bytes else { throw CacheError(.damaged, "the file is too short") }
    return BodyBytes(bytes)
  }

  func clone(to path: String) async throws(CacheError) {
    switch fault {
    case .clonesHalf:
      try await base.clone(to: path)
      truncate(path, off_t((length ?? 0) / 2))
    case .clonesOverFiles:
      unlink(path)
      try await base.clone(to: path)
    case .clonesPartly, .clonesWhatGrows:
      do { try await base.clone(to: path) } catch {
        guard error.code == .unavailable else { throw error }
        let start = availableRanges.first?.lowerBound ?? 0
        ScratchFile(path).write(try await read(start..<(.max)).array)
      }
    case .clonesByLink:
      guard let file else { return try await base.clone(to: path) }
      if link(file.path, path) != 0 { throw CacheError(.io, "no link") }
    default: try await base.clone(to: path)
    }
  }
}
