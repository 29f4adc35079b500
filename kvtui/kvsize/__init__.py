"""How many bytes of KV LMCache stores for a token, from a model's ``config.json``."""

from kvtui.kvsize.config import load_config
from kvtui.kvsize.model import kv_shape
from kvtui.kvsize.shape import KvShape

__all__ = ["KvShape", "kv_shape", "load_config"]
