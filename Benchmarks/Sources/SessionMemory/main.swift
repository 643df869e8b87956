// Puts a large response through CachedURLSession and prints the peak of its own memory, for
// Trials/urlsession-memory.sh.
import Foundation
import HTTPCacheURLSession
import HTTPCaching

let arguments = CommandLine.arguments
guard arguments.count >= 4, let url = URL(string: arguments[2]) else {
  print("usage: session-memory download|bytes|data|upload URL CACHE-DIRECTORY|- [OUTPUT|MIB-PER-SECOND]")
  exit(2)
}
let configuration = HTTPCache.Configuration(
  directory: arguments[3] == "-" ? nil : arguments[3], diskCapacity: 16 << 30)
let session = CachedURLSession(cache: try HTTPCache.open(configuration))
let option = arguments.count > 4 ? arguments[4] : ""
let clock = ContinuousClock()
let start = clock.now
var count: Int64 = 0
var response: URLResponse
switch arguments[1] {
case "download":
  response = try await session.download(
    for: URLRequest(url: url), to: URL(fileURLWithPath: option))
  count = (response as? HTTPURLResponse)?.expectedContentLength ?? 0
case "bytes":
  let (bytes, head) = try await session.bytes(from: url)
  response = head
  var isRight = true
  for try await chunk in bytes.chunks {
    isRight = isRight && Pattern.matches(chunk, at: count)
    count += Int64(chunk.count)
    if let rate = Double(option) {
      let due = start + .seconds(Double(count) / rate / 1_048_576)
      if clock.now < due { try await Task.sleep(until: due) }
    }
  }
  if !isRight { print("WRONG BYTES") }
case "data":
  let (data, head) = try await session.data(from: url)
  response = head
  count = Int64(data.count)
default:
  var request = URLRequest(url: url)
  request.httpMethod = "PUT"
  (_, response) = try await session.upload(for: request, fromFile: URL(fileURLWithPath: option))
}
let seconds = (clock.now - start) / .seconds(1)
let peak =
  try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  .split(separator: "\n").first { $0.hasPrefix("VmHWM") }?.split(separator: " ").dropFirst().first ?? "0"
print("\(peak) \(count) \(String(format: "%.1f", seconds)) \(response.cacheOutcome.map { "\($0)" } ?? "-")")
