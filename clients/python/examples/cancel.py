"""Compacts a session. Ctrl-C cancels the compaction, and nothing has changed; a second Ctrl-C ends the program at once.

export COMPACTORD_ADDR=127.0.0.1:7440
python cancel.py SESSION
"""

import argparse
import signal
import sys
from types import FrameType

import compactord


def main() -> int:
    """Compact the session, unless the user thinks better of it."""
    parser = argparse.ArgumentParser(description="Compacts a session; Ctrl-C cancels that.")
    parser.add_argument("session")
    arguments = parser.parse_args()

    with compactord.Client() as client:
        compaction = client.session(arguments.session).compacting()

        def cancel(_number: int, _frame: FrameType | None) -> None:
            # The next Ctrl-C does what it always does.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            print("cancelling; Ctrl-C again to leave at once", flush=True)
            compaction.cancel()

        signal.signal(signal.SIGINT, cancel)
        try:
            for event in compaction:
                print(event.WhichOneof("event"), flush=True)
        except compactord.CompactordError as error:
            if error.reason != "CANCELLED":
                raise
            print("cancelled: nothing has changed", flush=True)
            return 130
    print("done" if compaction.result else f"nothing to do: {compaction.result.message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
