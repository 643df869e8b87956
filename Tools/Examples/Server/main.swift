import HTTPCacheAsyncHTTPClient
import Hummingbird

let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
let weather = try WeatherClient()
let router = try articleRoutes()
router.get("weather/:place") { _, context in
  let forecast = try await weather.forecast(for: context.parameters.get("place") ?? "")
  return Response(status: .ok, body: ResponseBody(byteBuffer: forecast))
}
try await Application(
  router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
).runService()
try await weather.client.shutdown()
