"""Colours with a meaning: cold is blue, cached is amber, green, yellow and red are states."""

from __future__ import annotations

from textual.theme import Theme

# What a theme says of a series; Textual's own themes get the dark values.
SERIES = {
    "cold": "#6cb6ff",
    "cached": "#ffb454",
    "stored": "#b083f0",
    "neutral": "#768390",
    "muted": "#8b949e",
    "line": "#30363d",
}
_LIGHT = {
    "cold": "#0a62c4",
    "cached": "#a35200",
    "stored": "#7a3fc9",
    "neutral": "#6b7580",
    "muted": "#57606a",
    "line": "#d0d7de",
}
_CONTRAST = {
    "cold": "#4fc3ff",
    "cached": "#ffd000",
    "stored": "#d59bff",
    "neutral": "#b0b8c0",
    "muted": "#d0d7de",
    "line": "#9aa4ad",
}


def _shared(series: dict[str, str], key: str) -> dict[str, str]:
    return {
        **series,
        "footer-key-foreground": key,
        "footer-background": "transparent",
        "border": series["neutral"],
        "border-blurred": series["line"],
    }


THEMES = (
    Theme(
        "kvtui-dark",
        primary="#6cb6ff",
        secondary="#b083f0",
        accent="#ffb454",
        foreground="#d6dde4",
        background="#0d1117",
        surface="#0d1117",
        panel="#161b22",
        success="#57ab5a",
        warning="#e3b341",
        error="#f47067",
        variables=_shared(SERIES, "#ffb454"),
    ),
    Theme(
        "kvtui-light",
        primary="#0a62c4",
        secondary="#7a3fc9",
        accent="#a35200",
        foreground="#1f2328",
        background="#ffffff",
        surface="#ffffff",
        panel="#f3f5f7",
        success="#1a7f37",
        warning="#8a6100",
        error="#c9252d",
        dark=False,
        variables=_shared(_LIGHT, "#a35200"),
    ),
    Theme(
        "kvtui-contrast",
        primary="#4fc3ff",
        secondary="#d59bff",
        accent="#ffd000",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#101010",
        success="#50ff70",
        warning="#ffe000",
        error="#ff7070",
        variables=_shared(_CONTRAST, "#ffd000"),
    ),
)
DEFAULT_THEME = "kvtui-dark"
