"""``python -m kvtui``: the same as the ``kvtui`` command."""

from kvtui.entry import main

main()
