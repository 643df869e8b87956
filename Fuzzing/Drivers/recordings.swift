// Linked with libFuzzer and HTTPCacheArchives by scripts/fuzz-driver.sh.
import Glibc
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

private let folder = "/tmp/httpcache-fuzz-\(getpid())"
private let input = folder + "/input"

/// The function that libFuzzer calls for each input: a HAR, WARC or archive file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
  mkdir(folder, 0o700)
  let file = open(input, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  check(file >= 0 && write(file, start, count) == count && close(file) == 0, "the file of the input")
  guard let seed = try? Seeds.open(path: input) else { return 0 }
  guard let list = try? seed.responses(from: 0, limit: 1_000) else { return 0 }
  check(list.count == seed.count, "the number of responses")
  for found in list {
    check(found.bodyLength >= 0 && found.bodyLength <= Int64(count) * 1_100 + 4_096, "the length of a body")
    let same = try? seed.responses(to: found.target)
    check(same?.contains { $0.response == found.response } == true, "a response is found by its target")
    check(found.response.head.headerFields[.setCookie] == nil, "no cookies")
    check((200...599).contains(found.response.head.status.code), "the status")
  }
  return 0
}

private func check(_ holds: Bool, _ rule: String) {
  guard !holds else { return }
  // Do not use `print`: buffered output would be lost.
  let text = Array("violated: \(rule)\n".utf8)
  write(STDERR_FILENO, text, text.count)
  abort()
}
