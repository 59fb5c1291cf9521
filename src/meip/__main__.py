"""``python -m meip`` is the same as ``meip``."""

from meip.cli import main

if __name__ == "__main__":
    main()
