"""Where should the KV cache of a model live, and is it worth it?"""
