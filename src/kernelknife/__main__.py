"""``python -m kernelknife`` is the ``kernelknife`` command."""

from kernelknife.app.cli import main

if __name__ == "__main__":
    main()
