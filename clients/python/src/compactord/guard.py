"""Runs a program, and ends it when the standard input is closed.

That happens when the process at the other end of the pipe ends, even if it is killed. The program's folder is removed
then.

Usage: python guard.py FOLDER PROGRAM ARGUMENT...
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
from types import FrameType

GRACE = 15.0
"""Seconds that the program may take to end before it is killed."""


def main(folder: str, command: list[str]) -> None:
    """Run the command until it ends or the standard input is closed."""
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def end(_signal: int, _frame: FrameType | None) -> None:
        program.terminate()

    signal.signal(signal.SIGTERM, end)
    orphaned = threading.Event()
    threading.Thread(target=_leave_with, args=(program, folder, orphaned), daemon=True).start()
    while os.read(sys.stdin.fileno(), 1):
        pass
    orphaned.set()
    program.terminate()
    try:
        program.wait(GRACE)
    except subprocess.TimeoutExpired:
        program.kill()
    # The thread of _leave_with ends this process.
    threading.Event().wait()


def _leave_with(program: "subprocess.Popen[bytes]", folder: str, orphaned: threading.Event) -> None:
    """End this process when the program has ended. The folder is kept where the parent process may still read it."""
    status = program.wait()
    if orphaned.is_set():
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(status & 0xFF)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
