#!/usr/bin/env python3
"""A WebSocket echo through `serve`, with client and server of the package `websockets`.

    websocket.py serve            an echo server; prints its port
    websocket.py ask URL [PROXY]  sends texts, bytes and 1 MiB, and compares what comes back
"""
import asyncio, os, sys

import websockets


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def serve():
    async with websockets.serve(echo, "127.0.0.1", 0, max_size=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


async def ask(url, proxy):
    async with websockets.connect(url, max_size=None, proxy=proxy) as socket:
        for message in ["hello", b"\0\xff" * 100, os.urandom(1 << 20), "last"]:
            await socket.send(message)
            if await asyncio.wait_for(socket.recv(), 20) != message:
                raise SystemExit("another message came back")
        await (await socket.ping())
    print("echoed")


if sys.argv[1] == "serve":
    asyncio.run(serve())
else:
    asyncio.run(ask(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None))
