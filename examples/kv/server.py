"""A key-value server that keeps nothing on disk: each node has a share of the keys."""

import asyncio
import json
import sys

OWN, *ADDRESSES = sys.argv[1:]
VALUES = {}


def carry_out(f, key, value):
    """Do one operation on this node's values, and return its answer."""
    held = VALUES.get(key)
    if f == "read":
        return {"value": held}
    if f == "total":
        return {"value": held or 0}
    if f == "pop":
        return {"value": held.pop(0) if held else None}
    if f == "cas" and held != value[0]:
        return {"error": "unequal"}
    if f == "push":
        VALUES[key] = [*(held or ()), value]
    elif f == "count":
        VALUES[key] = (held or 0) + value
    else:
        VALUES[key] = value if f == "write" else value[1]
    return {"value": value}


async def answer(line):
    """Answer a request, or pass it on to the node that has the key."""
    request = json.loads(line)
    holder = ADDRESSES[sum(request["key"].encode()) % len(ADDRESSES)]
    if holder == OWN:
        return json.dumps(carry_out(**request)).encode() + b"\n"
    reader, writer = await asyncio.open_connection(*holder.split(":"))
    writer.write(line)
    answered = await reader.readline()
    writer.close()
    return answered


async def serve(reader, writer):
    """Answer the lines of one client, and hang up where the holder of a key can't be reached."""
    try:
        while line := await reader.readline():
            writer.write(await answer(line))
    except OSError:
        pass
    writer.close()


async def main():
    """Listen until somebody ends the process."""
    async with await asyncio.start_server(serve, *OWN.split(":")) as server:
        await server.serve_forever()


asyncio.run(main())
