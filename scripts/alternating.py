#!/usr/bin/env python3
"""Relays connections to ports on loopback by turns: alternating.py FILE PORT PORT... Writes its own port into the file."""
import asyncio, itertools, os, sys

FILE, PORTS = sys.argv[1], itertools.cycle(map(int, sys.argv[2:]))
RELAYS = set()


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def relay(reader, writer):
    # The event loop alone does not keep a task alive.
    task = asyncio.current_task()
    RELAYS.add(task)
    task.add_done_callback(RELAYS.discard)
    try:
        there, back = await asyncio.open_connection("127.0.0.1", next(PORTS))
    except OSError:
        return writer.close()
    await asyncio.gather(copy(reader, back), copy(there, writer))
    for side in back, writer:
        side.close()


async def main():
    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    with open(FILE + ".new", "w") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(FILE + ".new", FILE)
    await server.serve_forever()

asyncio.run(main())
