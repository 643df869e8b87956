// usage: sealing-benchmark [ENTRIES]
//
// The cost of encryption: times of a store on disk with and without encryption, and of the cipher alone. Each
// figure is the minimum of several rounds. ENTRIES (20,000) are stored for the removal by prefix.
import HTTPCacheLibC
import HTTPCacheSealing
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes

let clock = ContinuousClock()
var template = Array("/tmp/sealing-XXXXXX".utf8CString)
guard mkdtemp(&template) != nil else { exit(1) }
let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)

func key(_ number: Int) -> CacheKey {
  CacheKey(mode: .private, target: "https://example.com/some/path/\(number % 10)/file-\(number).js")
}

func record(_ number: Int, _ count: Int) -> CacheRecord {
  let now = SystemClock().now
  let fields: HTTPFields = [
    .cacheControl: "max-age=3600", .contentType: "text/javascript", .eTag: "\"\(number)\"",
    .lastModified: "Sat, 21 Nov 2026 10:00:00 GMT", .server: "example",
  ]
  return CacheRecord(
    key: key(number),
    response: StoredResponse(
      requestMethod: .get, nominated: [], head: HTTPResponse(status: .ok, headerFields: fields),
      requestTime: now, responseTime: now,
      facts: ReuseFacts(freshnessLifetime: 3_600, lifetimeSource: .maxAge, correctedInitialAge: 0)),
    bodyLength: Int64(count))
}

func put(_ number: Int, _ body: BodyBytes, in store: any CacheStore) async throws {
  let writer = try await store.write(record(number, body.count), variantLimit: 8)
  var rest = body
  while !rest.isEmpty {
    try await writer.append(rest.prefix(64 << 10))
    rest = rest.dropFirst(64 << 10)
  }
  _ = try await writer.commit(trailers: [:])
}

func read(_ number: Int, from store: any CacheStore) async throws -> Int {
  guard let reader = try store.read(key(number)).first?.body.open() else { return 0 }
  if let bytes = reader.bytesInMemory { return bytes.count }
  var count: Int64 = 0
  let length = reader.length ?? 0
  while count < length {
    count += Int64(try await reader.read(count..<min(length, count + (256 << 10))).count)
  }
  return Int(count)
}

/// Microseconds of a call.
func microseconds(calls: Int, _ body: (Int) async throws -> Void) async rethrows -> Double {
  let start = clock.now
  for call in 0..<calls { try await body(call) }
  let (seconds, attoseconds) = (clock.now - start).components
  return (Double(seconds) * 1e6 + Double(attoseconds) / 1e12) / Double(calls)
}

/// Runs a call on both stores by turns, and keeps the least time of some rounds.
func both(
  calls: Int, rounds: Int = 9, _ body: (Int, any CacheStore) async throws -> Void
) async rethrows -> (plain: Double, sealed: Double) {
  var least = (plain: Double.infinity, sealed: Double.infinity)
  for _ in 0..<rounds {
    least.plain = min(least.plain, try await microseconds(calls: calls) { try await body($0, plain) })
    least.sealed = min(least.sealed, try await microseconds(calls: calls) { try await body($0, sealed) })
  }
  return least
}

func tenth(_ number: Double) -> String {
  let tenths = Int((number * 10).rounded())
  return "\(tenths / 10).\(tenths % 10)"
}

func row(_ name: String, _ times: (plain: Double, sealed: Double), per unit: Double = 1) {
  print(
    "| \(name) | \(tenth(times.plain / unit)) | \(tenth(times.sealed / unit)) "
      + "| \(tenth(times.sealed / times.plain)) |")
}

let encryption = CacheEncryption.key(.random())
let plain = try DiskStore.open(directory: folder + "/plain", capacity: 4 << 30)
let disk = try DiskStore.open(directory: folder + "/sealed", capacity: 4 << 30)
let cipher = try encryption.cipher(secret: disk.secret)
let sealed = try SealedStore(base: disk, cipher: cipher)

let chunk = 65_508
let bytes = [UInt8](repeating: 7, count: chunk)
var output = [UInt8](repeating: 0, count: chunk + 28)
var opened = bytes
var (sealing, opening) = (Double.infinity, Double.infinity)
for _ in 0..<9 {
  sealing = min(
    sealing,
    try await microseconds(calls: 100) { _ in
      try bytes.withUnsafeBytes { input in
        try output.withUnsafeMutableBytes {
          try cipher.seal(input, for: .body, context: [1], into: $0)
        }
      }
    })
  opening = min(
    opening,
    try await microseconds(calls: 100) { _ in
      try output.withUnsafeBytes { input in
        try opened.withUnsafeMutableBytes {
          try cipher.open(input, for: .body, context: [1], into: $0)
        }
      }
    })
}
print("AES-256-GCM, a chunk of 64 KiB: sealing \(tenth(sealing)) µs, opening \(tenth(opening)) µs\n")

print("| µs | plain | encrypted | ratio |\n|---|---:|---:|---:|")
for (name, size, count) in [("4 KiB", 4 << 10, 200), ("1 MiB", 1 << 20, 20)] {
  let body = BodyBytes([UInt8](repeating: 1, count: size))
  row("store \(name)", try await both(calls: count) { try await put($0, body, in: $1) })
  row("hit on disk \(name)", try await both(calls: count) { _ = try await read($0, from: $1) })
}
let tiers = ([plain, sealed] as [any CacheStore]).map {
  TieredStore(memory: MemoryStore(capacity: 64 << 20), base: $0)
}
let keys = (0..<100).map { key($0) }
for tier in tiers {
  for number in 0..<100 { try await put(number, BodyBytes([1, 2, 3]), in: tier) }
  for number in 0..<100 { _ = try await read(number, from: tier) }
}
row(
  "look into memory (ns)",
  try await both(calls: 100_000) { call, base in
    let tier = base === plain ? tiers[0] : tiers[1]
    guard tier.peek(keys[call % 100]) != nil else { throw CacheError(.io, "no hit") }
  }, per: 0.001)

let entries = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20_000
for base in [plain, sealed] as [any CacheStore] {
  for number in 1_000..<1_000 + entries { try await put(number, BodyBytes([1]), in: base) }
  await base.flush()
}
row(
  "invalidate a tenth of an origin with \(entries) by prefix (ms)",
  try await both(calls: 1, rounds: 1) {
    _ = try await $1.invalidate(.prefix("https://example.com/some/path/3/"))
  }, per: 1_000)
row(
  "invalidate that origin (ms)",
  try await both(calls: 1, rounds: 1) { _ = try await $1.invalidate(.prefix("https://example.com/")) },
  per: 1_000)
for store in [plain, sealed] as [any CacheStore] { _ = try await store.remove(.all) }
