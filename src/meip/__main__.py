"""The process `meip`: ``python -m meip`` is the same. Signals are seen to before anything else is loaded."""

from __future__ import annotations

import sys

__all__ = ["main"]

COMPILING = "compiling what this command uses for the first time: seconds, not minutes; later it starts at once"


def main() -> None:
    """Run the command line in a process of its own."""
    from meip.base.compiling import when_compiling
    from meip.base.signals import Ended, end_quietly, nothing_left_to_do, open_streams
    from meip.base.text import say

    try:
        open_streams()
        end_quietly()
        when_compiling(lambda: say(COMPILING, err=True))
        from meip.cli import run

        code = run(sys.argv[1:])
    except Ended as ended:
        code = ended.code
    nothing_left_to_do()
    sys.exit(code)


if __name__ == "__main__":
    main()
