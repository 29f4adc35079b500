"""The plan of a run: what a person writes in TOML, validated field by field."""

from __future__ import annotations

import json
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from kvtui.errors import PlanError
from kvtui.fault_words import fault_sentence
from kvtui.hash_seed import check_seed

NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Name = Annotated[str, Field(pattern=NAME, max_length=40)]
Seed = Annotated[
    str | None, BeforeValidator(lambda seed: None if seed == "unset" else seed), AfterValidator(check_seed)
]
GiB = Annotated[float, Field(gt=0, le=2**20)]
Seconds = Annotated[float, Field(gt=0, le=10**7)]
Whole = Annotated[int, Field(ge=0, le=2**63 - 1)]


class TierKind(StrEnum):
    """Where LMCache keeps KV; ``none`` is the engine without LMCache."""

    NONE = "none"
    DRAM = "dram"
    DISK = "disk"
    VALKEY = "valkey"


class Topology(StrEnum):
    """``single``: both passes on one node. ``fleet``: cold on one node, cached on another."""

    SINGLE = "single"
    FLEET = "fleet"


class Policy(StrEnum):
    """LMCache's ``cache_policy``."""

    LRU = "LRU"
    LFU = "LFU"
    FIFO = "FIFO"
    MRU = "MRU"


class Order(StrEnum):
    """In which order a cached pass asks for the documents."""

    SAME = "same"
    REVERSED = "reversed"
    SHUFFLED = "shuffled"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Model(_Part):
    """The model that the engines load."""

    path: str = Field(min_length=1)
    """What ``--model`` gets, a hub id or a folder on the node. It is part of every key."""
    served_name: str = Field(min_length=1)
    """What requests call it."""
    kv_bytes_per_token: int | None = Field(default=None, gt=0, le=2**30)
    """KV bytes a token over all ranks, as kvtui size tells them; they decide what fits."""


class Corpus(_Part):
    """The documents: how many, how long, from which seed or which files."""

    documents: int = Field(ge=1, le=100_000)
    """How many documents are sent, each once a pass."""
    tokens: int = Field(ge=1, le=10**8)
    """Exact length of each document under the served model's tokenizer, without the prefix."""
    seed: Whole = 1
    """Of the generated documents."""
    source: str | None = Field(default=None, min_length=1)
    """A person's own documents, where kvtui runs: a folder, or a file of prompts; beside the plan's file if
    the path is relative. The first ``documents`` of them that are long enough are taken."""
    prefix_tokens: int = Field(default=0, ge=0, le=10**8)
    """Length of one system prompt before every document; 0 for none."""

    @property
    def prompt_tokens(self) -> int:
        """Length of a request: the prefix and the document."""
        return self.prefix_tokens + self.tokens


class Engine(_Part):
    """How vLLM is started on every node."""

    dtype: str = "auto"
    """vLLM's ``--dtype``."""
    max_model_len: int = Field(default=16384, ge=256, le=10**8)
    """Most tokens of a request, its output included."""
    output_tokens: int = Field(default=8, ge=1)
    """Tokens that each request asks for. TTFT ends at the first; all tell whether reused KV is right."""
    extra_args: tuple[str, ...] = ()
    """More arguments of the engine, such as ``--tensor-parallel-size=2``."""
    start_timeout_s: Seconds = 900
    """How long an engine may take to serve."""
    request_timeout_s: Seconds = 120
    """How long a request may take."""
    lease_min: Annotated[float, Field(gt=0, le=10**5)] = 30
    """An engine that no kvtui has claimed for so long ends by itself."""


class Hash(_Part):
    """What makes the keys of two engines equal."""

    algorithm: Literal["builtin", "sha256", "sha256_cbor", "sha256_cbor_64bit", "xxhash", "xxhash_cbor"] = (
        "sha256_cbor"
    )
    """LMCache's ``pre_caching_hash_algorithm``."""
    seed: Seed = "0"
    """``PYTHONHASHSEED`` of every engine; the word ``unset`` leaves it out."""
    seed_on: dict[Name, Seed] = Field(default_factory=dict)
    """Nodes whose engine gets another seed."""
    chunk_tokens: int = Field(default=256, ge=16, le=2**20)
    """LMCache's ``chunk_size``; only whole chunks are stored."""
    accept_differing: bool = False
    """Whether a fleet whose engines cannot share KV runs all the same; its results are then marked."""

    def seed_for(self, node: str) -> str | None:
        """``PYTHONHASHSEED`` of the engine on ``node``, ``None`` for unset."""
        return self.seed_on.get(node, self.seed)


class Node(_Part):
    """A host reached over SSH."""

    ssh: str = Field(min_length=1)
    """An alias of ``~/.ssh/config``, or ``user@host:port``."""
    engine_python: str = "~/kvtui-engine/bin/python"
    """The interpreter of the environment with vLLM and LMCache; engine nodes only."""
    hourly_price: float | None = Field(default=None, ge=0, le=10**9)
    """What an hour of the node costs, in whatever currency all nodes share."""


class Store(_Part):
    """The Valkey server, as the engines reach it."""

    node: Name
    address: str = "127.0.0.1"
    """Its host as the engines' nodes resolve it."""
    port: int = Field(default=6379, ge=1, le=65535)
    """Its port."""
    password_env: str | None = None
    """Name of the environment variable, where kvtui runs, that holds its password."""


class Passes(_Part):
    """Which passes a tier gets, and on which nodes."""

    topologies: tuple[Topology, ...] = (Topology.SINGLE, Topology.FLEET)
    """``single``: both passes on one node; ``fleet``: cold on one, cached on another."""
    cold_node: Name = "gpu-a"
    """Where cold passes run, and the cached ones of a single node."""
    cached_node: Name = "gpu-b"
    """Where the fleet's cached passes run."""
    fleet_cold: Literal["shared", "own"] = "own"
    """``shared``: the fleet's cached pass follows the single node's cold pass, on the same engines."""
    order: Order = Order.SAME
    """Order of a cached pass against its cold pass: ``same``, ``reversed`` or ``shuffled``."""
    cold_order: Literal["listed", "shuffled"] = "shuffled"
    """Order of a cold pass: as the documents are listed, or ``shuffled``, anew in each repeat."""
    shuffle_seed: Whole = 0
    """Of both orders where they are ``shuffled``."""
    repeats: Annotated[int, Field(ge=1, le=50)] = 1
    """How often every tier is measured; the order of the tiers is balanced over the repeats."""

    def serving_node(self, topology: Topology) -> str:
        """The node of a cached pass."""
        return self.cached_node if topology is Topology.FLEET else self.cold_node

    @field_validator("topologies")
    @classmethod
    def _topologies(cls, topologies: tuple[Topology, ...]) -> tuple[Topology, ...]:
        if not topologies or len(set(topologies)) != len(topologies):
            raise ValueError('name "single", "fleet" or both, each once')
        return topologies


class Tier(_Part):
    """One place for the KV, alone."""

    name: Name
    """What tables call it."""
    kind: TierKind
    """Where the KV is: ``dram``, ``disk``, ``valkey``, or ``none`` for an engine without LMCache."""
    capacity_gib: GiB | None = None
    """GiB of 1024³ bytes: of every rank in DRAM and on disk, of the whole store in Valkey."""
    path: str | None = Field(default=None, min_length=1)
    """Directory of the disk tier on each node; kvtui uses a folder of its own below it."""
    workers: int = Field(default=8, ge=1, le=256)
    """Connections to the store; Valkey only."""
    policy: Policy = Policy.LRU
    """Which chunks LMCache gives up first; DRAM and disk only."""

    @model_validator(mode="after")
    def _fields_of_its_kind(self) -> Self:
        if self.kind is TierKind.NONE and self.capacity_gib is not None:
            raise ValueError(f'tier "{self.name}" has no cache, so it takes no capacity_gib')
        if self.kind is not TierKind.NONE and self.capacity_gib is None:
            raise ValueError(f'tier "{self.name}" needs capacity_gib, in GiB')
        if (self.kind is TierKind.DISK) != (self.path is not None):
            need = "needs a path" if self.kind is TierKind.DISK else "takes no path"
            raise ValueError(f'tier "{self.name}" of kind {self.kind} {need}')
        if self.policy is not Policy.LRU and self.kind not in (TierKind.DRAM, TierKind.DISK):
            raise ValueError(f'tier "{self.name}" of kind {self.kind} takes no policy')
        return self


class Plan(_Part):
    """Everything that a run is to do."""

    name: Name
    lab: bool = False
    """The nodes, the store and the model are those of the lab on this machine."""
    notes: tuple[str, ...] = ()
    """What a reader of the results must know about this plan."""
    model: Model
    corpus: Corpus
    engine: Engine = Engine()
    hash: Hash = Hash()
    nodes: dict[Name, Node] = Field(default_factory=dict)
    store: Store | None = None
    passes: Passes = Passes()
    tiers: tuple[Tier, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        names = [tier.name for tier in self.tiers]
        if len(set(names)) != len(names):
            raise ValueError("every tier needs a name of its own")
        self._requests_fit()
        if Topology.FLEET in self.passes.topologies and self.passes.cold_node == self.passes.cached_node:
            raise ValueError("a fleet needs two nodes: cold_node and cached_node are the same")
        if self.passes.fleet_cold == "shared" and Topology.SINGLE not in self.passes.topologies:
            raise ValueError('fleet_cold = "shared" needs the single topology, whose cold pass it shares')
        if not self.lab:
            self._named_nodes_exist()
        return self

    def _requests_fit(self) -> None:
        corpus, chunk = self.corpus, self.hash.chunk_tokens
        if corpus.prompt_tokens + self.engine.output_tokens > self.engine.max_model_len:
            prefix = f" after a prefix of {corpus.prefix_tokens}" if corpus.prefix_tokens else ""
            raise ValueError(
                f"documents of {corpus.tokens} tokens{prefix} and {self.engine.output_tokens} of output "
                f"do not fit max_model_len {self.engine.max_model_len}"
            )
        if corpus.prefix_tokens and corpus.prompt_tokens // chunk == corpus.prefix_tokens // chunk:
            raise ValueError(
                f"documents of {corpus.tokens} tokens add no whole chunk of {chunk} to a prefix of "
                f"{corpus.prefix_tokens}, so each would be found whole before it was ever sent"
            )

    def _named_nodes_exist(self) -> None:
        needed = list(self.engine_nodes)
        if self.needs_store:
            if self.store is None:
                raise ValueError("a valkey tier needs a [store]")
            needed.append(self.store.node)
        for name in needed:
            if name not in self.nodes:
                raise ValueError(f'node "{name}" has no [nodes.{name}]')

    @property
    def needs_store(self) -> bool:
        """Whether any tier keeps its KV in Valkey."""
        return any(tier.kind is TierKind.VALKEY for tier in self.tiers)

    @property
    def engine_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that run an engine, the cold one first."""
        if Topology.FLEET in self.passes.topologies:
            return (self.passes.cold_node, self.passes.cached_node)
        return (self.passes.cold_node,)

    def tier(self, name: str) -> Tier:
        """The tier of that name.

        Raises:
            KeyError: No tier has that name.
        """
        for tier in self.tiers:
            if tier.name == name:
                return tier
        raise KeyError(name)


def _where(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def sentence(error: ValidationError, source: str) -> str:
    """What is wrong with a file that a person wrote, field by field, in one sentence."""
    faults = []
    errors = error.errors()
    places = [fault["loc"] for fault in errors]
    for fault in errors:
        if any(place[: len(fault["loc"])] == fault["loc"] for place in places if place != fault["loc"]):
            continue  # a part of it is named already
        what, where = fault_sentence(fault), _where(fault["loc"])
        faults.append(f"{where}: {what}" if where else what)
    return f"{source}: {'; '.join(faults)}."


def validated(plan: Plan, source: str = "The plan") -> Plan:
    """A plan whose parts were exchanged, checked anew as a whole.

    Raises:
        PlanError: It is not a plan any more; the message names each field.
    """
    return plan_of(plan.model_dump(mode="json", warnings=False), source)


def plan_of(data: object, source: str) -> Plan:
    """A plan from plain values, as TOML or JSON has them.

    Raises:
        PlanError: An unknown field, or a value that is not allowed; the message names each field.
    """
    try:
        # TOML has types: a text is no number. By way of JSON a strict check still takes lists and names.
        text = json.dumps(data, default=lambda moment: {"date": str(moment)})
        return Plan.model_validate_json(text, strict=True)
    except RecursionError as error:
        raise PlanError(f"{source} is nested too deep to be a plan.") from error
    except ValidationError as error:
        raise PlanError(sentence(error, source), "Mend the plan and start again.") from error


def parse_plan(text: str, source: str) -> Plan:
    """Read a plan from TOML.

    Args:
        text: The TOML.
        source: Name of the file, for the message.

    Raises:
        PlanError: Not TOML, an unknown field, or a value that is not allowed; the message names each field.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PlanError(f"{source} is not TOML: {error}.", "Mend the line that it names.") from error
    except ValueError as error:
        # Python refuses to read a number of thousands of digits.
        raise PlanError(f"{source} holds a number that cannot be read: {error}.") from error
    return plan_of(data, source)


def load_plan(path: Path) -> Plan:
    """Read a plan from a file.

    Raises:
        PlanError: The file cannot be read, or is not a plan.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise PlanError(f"There is no plan {path}.", "Give the path of a TOML file.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"The plan {path} cannot be read: {error}.") from error
    plan = parse_plan(text, str(path))
    if plan.corpus.source is None:
        return plan
    source = path.resolve().parent / Path(plan.corpus.source).expanduser()
    corpus = plan.corpus.model_copy(update={"source": str(source)})
    return plan.model_copy(update={"corpus": corpus})
