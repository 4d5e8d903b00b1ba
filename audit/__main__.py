"""``python -m audit`` is ``recaudit``."""

from audit.cli import main

if __name__ == "__main__":
    main()
