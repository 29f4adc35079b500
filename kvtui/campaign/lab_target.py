"""The lab as the target of a run."""

from __future__ import annotations

from kvtui.campaign.target import Target
from remote.lab.engine import ENVIRONMENT
from remote.lab.info import LabInfo


def target_of_lab(lab: LabInfo, nodes: tuple[str, ...]) -> Target:
    """The target of a run on the lab.

    Args:
        lab: The running lab.
        nodes: Names of the plan's engine nodes.
    """
    store = "valkey"
    return Target(
        hosts={name: lab.nodes[name] for name in (*nodes, store)},
        engine_python={name: lab.parts.engine_python for name in nodes},
        model_path=lab.parts.model_dir,
        store_node=store,
        store_address=lab.store.host,
        store_port=lab.store.port,
        connector_module=lab.parts.connector_module,
        engine_env={**ENVIRONMENT, "PYTHONPATH": lab.parts.connector_dir},
        lab=True,
        # A lab that ends by itself when idle was started by a run; one that a person started stays.
        owns_lab=lab.idle_lease_s is not None,
    )
