"""``python -m kernelknife`` is the ``kernelknife`` command."""

from kernelknife.cli import main

if __name__ == "__main__":
    main()
