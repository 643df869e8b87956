import HTTPCacheLibC

/// The minimum for a body file: written under a temporary name, then renamed.
struct RawFiles {
  private let folder: Int32

  init(folder path: String) throws {
    mkdir(path, 0o700)
    folder = open(path, O_RDONLY | O_DIRECTORY)
    guard folder >= 0 else { throw BenchmarkError.system("open \(path)") }
  }

  func write(_ body: [UInt8], name: String) throws {
    let descriptor = openat(folder, name + ".part", O_RDWR | O_CREAT | O_EXCL, 0o600)
    guard descriptor >= 0 else { throw BenchmarkError.system("make \(name)") }
    defer { close(descriptor) }
    guard body.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == body.count,
      renameat(folder, name + ".part", folder, name) == 0
    else { throw BenchmarkError.system("write \(name)") }
  }
}
