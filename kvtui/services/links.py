"""SSH links that stay open while the app does, one a host."""

from __future__ import annotations

from remote.asking import Asker
from remote.hosts import HostSpec
from remote.link import Link


class LinkPool:
    """Links by host; each is opened when it is first used, and lives until the end.

    Args:
        asker: Who is asked about host keys and passphrases.
    """

    def __init__(self, asker: Asker | None = None) -> None:
        self._asker = asker
        self._links: dict[HostSpec, Link] = {}

    def get(self, host: HostSpec) -> Link:
        """The link to a host."""
        if host not in self._links:
            self._links[host] = Link(host, self._asker)
        return self._links[host]

    async def close(self) -> None:
        """Close all of them."""
        links, self._links = list(self._links.values()), {}
        for link in links:
            await link.close()
