"""``python -m tritium``."""

from tritium.cli.main import main

if __name__ == "__main__":
    main()
