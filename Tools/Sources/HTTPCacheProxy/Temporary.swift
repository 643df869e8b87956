import NIOCore
import NIOPosix
import NIOHTTP1
import NIOSSL
import HTTPCaching
