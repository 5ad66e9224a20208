"""`python -m kraftproof` is `kraftproof`."""

from kraftproof.cli import main

if __name__ == "__main__":
    main()
