"""A person's settings: ``config.toml`` in the configuration directory."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kvtui.errors import PlanError
from kvtui.plan import sentence

FILE = "config.toml"


class Settings(BaseModel):
    """What a person may set.

    Attributes:
        theme: Name of a theme.
        keys: Keys by a command's id, as the help names it: ``"live.pause" = "p"``.
        readonly: Start without anything that starts, stops or deletes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    theme: str = "kvtui-dark"
    keys: dict[str, str] = Field(default_factory=dict)
    readonly: bool = False


def load_settings(config: Path) -> Settings:
    """The settings, or the defaults where there is no file.

    Args:
        config: The configuration directory.

    Raises:
        PlanError: The file cannot be read, is not TOML, or holds what is no setting.
    """
    path = config / FILE
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"The settings {path} cannot be read: {error}.") from error
    try:
        return Settings.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PlanError(f"{path} is not TOML: {error}.", "Mend the line that it names.") from error
    except ValidationError as error:
        raise PlanError(sentence(error, str(path)), "Mend it, or remove the file.") from error
