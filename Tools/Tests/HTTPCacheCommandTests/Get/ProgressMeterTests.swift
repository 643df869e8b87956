import HTTPCaching
import HTTPCacheTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct ProgressMeterTests {
  private func drawn(_ transfers: Int, _ body: (ProgressMeter, ManualClock) -> Void) -> String {
    let lines = LineRecorder()
    let clock = ManualClock(now: Timestamp(seconds: 0))
    let console = Console(output: { _ in }, error: { lines.write($0) })
    Console.$current.withValue(console) {
      body(ProgressMeter(transfers: transfers, isShown: true, clock: clock), clock)
    }
    return lines.text
  }

  @Test("several transfers have a line each, and one for all")
  func several() {
    let text = drawn(2) { meter, clock in
      let one = meter.begin("http://a/one.iso", length: 1000, from: 0)
      let two = meter.begin("http://a/two.iso", length: 3000, from: 0)
      meter.add(500, to: one, at: 500)
      clock.advance(by: .seconds(1))
      meter.add(1500, to: two, at: 1500)
    }
    let last = text.split(separator: "\r").last ?? ""
    let lines = last.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.first?.contains("one.iso") == true)
    #expect(lines.first?.contains("500 B of 1000 B") == true)
    #expect(lines.dropFirst().first?.contains("1.5 KiB of 2.9 KiB") == true)
    #expect(lines.last?.contains("0/2  2.0 KiB of 3.9 KiB") == true)
  }

  @Test("the bar of a continued transfer begins at its offset, and its rate counts fetched bytes")
  func continued() {
    let text = drawn(1) { meter, clock in
      let bar = meter.begin("http://a/one.iso", length: 1 << 30, from: 1 << 29)
      meter.add(1 << 20, to: bar, at: 1 << 20)
      clock.advance(by: .seconds(1))
      meter.add(1 << 20, to: bar, at: 1 << 29 + 1 << 20)
    }
    let drawings = text.split(separator: "\r")
    #expect(drawings.first?.contains("50 %  512 MiB of 1.0 GiB") == true)
    #expect(drawings.last?.contains("513 MiB of 1.0 GiB  1.0 MiB/s") == true)
  }

  @Test("a printed line replaces the drawing")
  func say() {
    let text = drawn(1) { meter, _ in
      let bar = meter.begin("http://a/one.iso", length: 10, from: 0)
      meter.add(5, to: bar, at: 5)
      meter.say("a line")
      meter.leave(bar)
      meter.end(printing: "the end")
    }
    #expect(text.hasSuffix("\r\u{1B}[Ja line\nthe end\n"))
  }
}
