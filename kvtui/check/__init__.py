"""What will happen when a plan is launched, said while it is still being written."""

from kvtui.check.assess import assess
from kvtui.check.assessment import (
    Agreement,
    Assessment,
    Forecast,
    Ingredient,
    KvFigures,
    Recommendation,
    Sharing,
    SharingTable,
    TierFit,
    TierForecast,
)
from kvtui.check.compare import Difference, compare
from kvtui.check.fixes import Fix, fix
from kvtui.check.known import Known, Measured, MeasuredTier, measured_of
from kvtui.check.sizes import shape_of

__all__ = [
    "Agreement",
    "Assessment",
    "Difference",
    "Fix",
    "Forecast",
    "Ingredient",
    "Known",
    "KvFigures",
    "Measured",
    "MeasuredTier",
    "Recommendation",
    "Sharing",
    "SharingTable",
    "TierFit",
    "TierForecast",
    "assess",
    "compare",
    "fix",
    "measured_of",
    "shape_of",
]
