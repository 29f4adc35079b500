"""What a person can do on the Plan screen."""

from __future__ import annotations

from screens.commands import Command

COMMANDS = (
    Command("plan.save", "ctrl+s", "Save", "Save the plan under a name.", "save", changes=True),
    Command("plan.edit", "i", "Edit", "Go into the form; tab and arrows move, esc leaves.", "edit"),
    Command("plan.leave", "escape", "Keys", "Leave the field, so that letters are keys again.", "leave"),
    Command("plan.open", "o", "Open", "Open a saved plan, or one that comes with kvtui.", "open"),
    Command("plan.launch", "L", "Launch", "Check the nodes and start this plan.", "launch"),
    Command("plan.fix", "f", "Fix", "Mend what the finding under the cursor is about.", "fix"),
    Command("plan.copy", "y", "Copy", "Copy the commands and files that start its engines.", "copy"),
    Command("plan.view", "v", "View", "Show fit, keys or forecast.", "view"),
    Command(
        "plan.export",
        "e",
        "Export",
        "Write the plan as TOML, and copy it.",
        "export",
        changes=True,
        shown=False,
    ),
    Command("plan.compare", "C", "Compare", "Compare with another plan.", "compare", shown=False),
    Command(
        "plan.arithmetic",
        "A",
        "Arithmetic",
        "How the recommendation was reckoned.",
        "arithmetic",
        shown=False,
    ),
    Command(
        "plan.documents", "d", "Documents", "Read the documents that it sends.", "documents", shown=False
    ),
)
