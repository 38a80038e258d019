"""Runs a program, and ends it when the standard input ends.

That is when whoever holds the other end of it is gone, however that went.

Usage: python guard.py PROGRAM ARGUMENT...
"""

import os
import signal
import subprocess
import sys
import threading
from types import FrameType

GRACE = 15.0
"""Seconds that the program may take to end before it is killed."""


def main(command: list[str]) -> None:
    """Run the command until it ends, or until it has to."""
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def end(_signal: int, _frame: FrameType | None) -> None:
        program.terminate()

    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=_leave_with, args=(program,), daemon=True).start()
    while os.read(sys.stdin.fileno(), 1):
        pass
    program.terminate()
    try:
        program.wait(GRACE)
    except subprocess.TimeoutExpired:
        program.kill()


def _leave_with(program: "subprocess.Popen[bytes]") -> None:
    """End this process when the program has ended."""
    os._exit(program.wait() & 0xFF)


if __name__ == "__main__":
    main(sys.argv[1:])
