"""What runs on a node: standard library only, Python 3.8 or newer, Linux.

The operator's side packs these modules, uploads them once, and starts them with the node's own ``python3``.
Nothing here may import anything outside this package and the standard library.
"""
