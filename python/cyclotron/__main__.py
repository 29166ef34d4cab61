"""``python -m cyclotron``."""

import sys

from cyclotron.cli import main

sys.exit(main())
