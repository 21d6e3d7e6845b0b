"""`python -m seq2see` is the `seq2see` command."""

from seq2see.cli.command import main

if __name__ == "__main__":
    raise SystemExit(main())
