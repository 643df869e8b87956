import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheSemantics
import HTTPCacheTesting
import Testing

@testable import HTTPCacheStore

@Suite("Marks of seeds survive the process, and damage", .timeLimit(.minutes(10)))
struct SeedMarksTests {
  private let folder: ScratchFolder
  private let path: String
  private let key = CacheKey(mode: .private, target: "https://example.com/a")
  private let other = CacheKey(mode: .private, target: "https://example.com/b")
  private let time = Timestamp(seconds: 1_600_000_000)

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("marks").path
  }

  private func scope(_ key: CacheKey) -> [InvalidationScope] { [.target(key.target)] }

  private func mark(_ marks: SeedMarks, _ key: CacheKey, at time: Timestamp? = nil) -> SeedMarks.Kind? {
    marks.mark(of: key, groups: [], receivedAt: time ?? self.time)
  }

  @Test("another process sees a mark at once, and a later one finds it")
  func survive() throws {
    let (one, two) = (SeedMarks(path: path), SeedMarks(path: path))
    #expect(mark(two, key) == nil)
    try one.add(.invalidated, scope(key), until: time)
    #expect(mark(two, key) == .invalidated)
    try two.add(.removed, scope(key), until: time)
    #expect(mark(one, key) == .removed)
    #expect(mark(SeedMarks(path: path), key) == .removed)
    #expect(mark(one, other) == nil)
  }

  @Test("a mark does not apply to a seed that was received later")
  func laterSeeds() throws {
    let marks = SeedMarks(path: path)
    try marks.add(.removed, scope(key), until: time)
    #expect(mark(marks, key, at: time.adding(.seconds(1))) == nil)
  }

  @Test("the same mark is written once")
  func once() throws {
    let marks = SeedMarks(path: path)
    for _ in 0..<3 { try marks.add(.invalidated, scope(key), until: time) }
    #expect(SeedMarkFile(path: path).state?.size == 32)
  }

  @Test("with any byte of the file flipped, no marked seed answers without validation")
  func flipped() throws {
    try SeedMarks(path: path).add(.removed, scope(key), until: time)
    let whole = try #require(read(path))
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= 0x40
      write(bytes, path)
      #expect(mark(SeedMarks(path: path), key) != nil, "byte \(index)")
    }
  }

  @Test("a record that a crash cut off is dropped, and the next one is written in its place")
  func cut() throws {
    try SeedMarks(path: path).add(.removed, scope(key), until: time)
    let whole = try #require(read(path))
    for length in 1..<whole.count {
      write(whole + whole.prefix(length), path)
      let marks = SeedMarks(path: path)
      #expect(mark(marks, key) == .removed)
      try marks.add(.invalidated, scope(other), until: time)
      #expect(read(path)?.count == 64)
      #expect(mark(SeedMarks(path: path), other) == .invalidated)
    }
  }

  @Test("a damaged file begins anew, with everything invalidated")
  func rewritten() throws {
    write([UInt8](repeating: 7, count: 96), path)
    let marks = SeedMarks(path: path)
    #expect(mark(marks, other) == .invalidated)
    try marks.add(.removed, scope(key), until: time)
    #expect(mark(SeedMarks(path: path), key) == .removed)
    #expect(mark(SeedMarks(path: path), other) == .invalidated)
    #expect(mark(SeedMarks(path: path), other, at: time.adding(.seconds(1))) == nil)
  }

  @Test("a file that cannot be written is told, and the mark applies in this process")
  func unwritable() throws {
    let marks = SeedMarks(path: path + "/none/marks")
    #expect(throws: CacheError.self) { try marks.add(.removed, scope(key), until: time) }
    #expect(mark(marks, key) == .removed)
  }

  @Test("more marks than the limit become one for everything")
  func limit() throws {
    let marks = SeedMarks(path: path)
    let many = (0..<65_536).map { InvalidationScope.target("https://example.com/\($0)") }
    try marks.add(.invalidated, many, until: time)
    try marks.add(.invalidated, scope(other), until: time)
    #expect(SeedMarkFile(path: path).state?.size == 32)
    #expect(mark(SeedMarks(path: path), key) == .invalidated)
  }

  @Test("a symbolic link is not followed")
  func link() throws {
    #expect(symlink("/etc/passwd", path) == 0)
    let marks = SeedMarks(path: path)
    #expect(mark(marks, key) == .invalidated)
    #expect(throws: CacheError.self) { try marks.add(.removed, scope(key), until: time) }
  }

  private func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }

  private func write(_ bytes: [UInt8], _ path: String) {
    guard let file = fopen(path, "wb") else { return }
    defer { fclose(file) }
    fwrite(bytes, 1, bytes.count, file)
  }
}
