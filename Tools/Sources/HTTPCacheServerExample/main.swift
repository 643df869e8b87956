import HTTPCacheAsyncHTTPClient
import Hummingbird

let weather = try WeatherClient()
let router = try articleRoutes()
router.get("weather/:place") { _, context in
  let forecast = try await weather.forecast(for: context.parameters.get("place") ?? "")
  return Response(status: .ok, body: ResponseBody(byteBuffer: forecast))
}
try await Application(router: router).runService()
try await weather.client.shutdown()
