"""Patients of the Mayo Clinic with cirrhosis, a quarter of whom did not join its trial."""

from __future__ import annotations

from importlib import resources

import pandas as pd

from pmae_core.table.roles import Role

CIRRHOSIS_STORY = (
    "106 of the 418 patients did not join the trial: the drug and eight measurements are missing "
    "for all of them. Only 79 other values are missing."
)
"""What is worth knowing about the missing values."""

CIRRHOSIS_DESCRIPTIONS = {
    "patient": "number of the patient",
    "drug": "drug assigned in the trial",
    "age": "age in years",
    "ascites": "fluid in the abdomen",
    "hepatomegaly": "enlarged liver",
    "spiders": "spider-shaped blood vessels in the skin",
    "edema": "swelling: none, untreated or resolved by diuretics, or persisting despite diuretics",
    "bilirubin": "serum bilirubin in mg/dL",
    "cholesterol": "serum cholesterol in mg/dL",
    "albumin": "serum albumin in g/dL",
    "copper": "urine copper in µg per day",
    "alkaline_phosphatase": "alkaline phosphatase in U/L",
    "ast": "aspartate aminotransferase (AST) in U/mL",
    "triglycerides": "triglycerides in mg/dL",
    "platelets": "platelets in 1,000 per µL",
    "prothrombin_time": "blood clotting time in seconds",
    "stage": "histologic stage of the disease, from 1 to 4",
    "follow_up_days": "days until death, transplant or the end of the study in July 1986",
    "status": "what ended the observation: death, transplant, or neither (censored)",
}
"""What was measured in each column whose name does not say it, with its unit."""

_YES_NO = ("ascites", "hepatomegaly", "spiders")
_EDEMA_LEVELS = ["no edema", "untreated or resolved", "despite diuretics"]
_WHOLE_NUMBERS = ("cholesterol", "copper", "triglycerides", "platelets", "stage")

_IN_ORDER = ("edema", "stage")

CIRRHOSIS_ROLES = dict.fromkeys(_YES_NO, Role.BOOLEAN) | dict.fromkeys(_IN_ORDER, Role.ORDINAL)
"""Roles that the cells alone do not show."""


def load_cirrhosis() -> pd.DataFrame:
    """Return the patients as a table with its original missing values."""
    dtypes: dict[str, str | pd.CategoricalDtype] = {
        **dict.fromkeys(("drug", "sex", "status", *_YES_NO), "category"),
        **dict.fromkeys(_WHOLE_NUMBERS, "Int64"),
        "edema": pd.CategoricalDtype(_EDEMA_LEVELS, ordered=True),
    }
    file = resources.files("pmae_core.table.samples").joinpath("cirrhosis.csv")
    with file.open("rb") as content:
        return pd.read_csv(content, dtype=dtypes)
