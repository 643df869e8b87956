/// The connection ended before a stream of HTTP/2 did. NIOHTTP2 closes the channel of the stream without an error.
struct UnfinishedStream: Error {}
