"""What each data set must look like: file, checksum, columns, citation, license, OpenML copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["AIRFOIL", "AMES", "CONCRETE", "DATA_SETS", "PIMA", "WINE", "Column", "DataSet"]

Dtype = Literal["int64", "float64", "category"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the canonical table, and what must be done to OpenML's column to obtain it.

    Parameters
    ----------
    name : str
        Name in the canonical table.
    dtype : {"int64", "float64", "category"}
        Type in the data frame.
    openml_name : str, optional
        Name at OpenML if it is another one. Case and punctuation do not matter.
    decimals : int, optional
        Decimals of the canonical table. A copy with more is rounded half up, in decimal.
    levels : mapping of str to str
        OpenML's text of each level, and the canonical text. Levels not listed stay.
    """

    name: str
    dtype: Dtype
    openml_name: str = ""
    decimals: int | None = None
    levels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A data set: what identifies it, what it holds and whom to cite.

    Parameters
    ----------
    name : str
        Name used in messages.
    file : str
        File name of the canonical CSV.
    sha256 : str
        SHA-256 of that file's bytes.
    n_rows : int
        Rows.
    columns : tuple of Column
        Columns in order.
    response : str
        Name of the response.
    citation, license : str
        Whom to cite, and under which terms the data may be used.
    openml_id : int
        OpenML identifier of the copy whose layout needs the least change.
    openml_target : str
        The response's name there.
    sha256_15_digits : str, optional
        SHA-256 of the canonical text with numbers cut to 15 significant digits, where that
        differs from `sha256`.
    """

    name: str
    file: str
    sha256: str
    n_rows: int
    columns: tuple[Column, ...]
    response: str
    citation: str
    license: str
    openml_id: int
    openml_target: str
    sha256_15_digits: str = ""

    @property
    def openml_sha256(self) -> str:
        """SHA-256 that the normalized OpenML copy must have."""
        return self.sha256_15_digits or self.sha256


def _wine_columns() -> tuple[Column, ...]:
    acids_to_alcohol = (
        "fixed_acidity",
        "volatile_acidity",
        "citric_acid",
        "residual_sugar",
        "chlorides",
        "free_sulfur_dioxide",
        "total_sulfur_dioxide",
        "density",
        "pH",
        "sulphates",
        "alcohol",
    )
    features = tuple(Column(name=name, dtype="float64") for name in acids_to_alcohol)
    return (*features, Column(name="quality", dtype="int64"))


_WINE_CITATION = (
    "P. Cortez, A. Cerdeira, F. Almeida, T. Matos, J. Reis (2009). Modeling wine preferences by "
    "data mining from physicochemical properties. Decision Support Systems 47(4), 547-553."
)
_WINE_LICENSE = "CC BY 4.0"

WINE = {
    "red": DataSet(
        name="wine_quality_red",
        file="wine_quality_red.csv",
        sha256="b51c8ee6ca1f66473bd98042780da9ce3eceaf6fe113441e8f2c3ee593b02318",
        n_rows=1599,
        columns=_wine_columns(),
        response="quality",
        citation=_WINE_CITATION,
        license=_WINE_LICENSE,
        openml_id=44972,
        openml_target="quality",
    ),
    "white": DataSet(
        name="wine_quality_white",
        file="wine_quality_white.csv",
        sha256="2c842c4c2fa533aa569d9b8182754f89c7587279def660dcbbf4f1e6ef69673c",
        n_rows=4898,
        columns=_wine_columns(),
        response="quality",
        citation=_WINE_CITATION,
        license=_WINE_LICENSE,
        openml_id=44971,
        openml_target="quality",
    ),
}

# UCI's spreadsheet has more digits than its text file, and which of the two OpenML copied is not
# documented: rounding half up turns either into the text file's table.
CONCRETE = DataSet(
    name="concrete",
    file="concrete.csv",
    sha256="c2690f237285ede14fa54fe05dbe6a83ce510f65de6a8c5f8cafd6cefd9f38e2",
    n_rows=1030,
    columns=(
        Column(name="cement", dtype="float64", decimals=1),
        Column(name="blast_furnace_slag", dtype="float64", decimals=1),
        Column(name="fly_ash", dtype="float64", decimals=1),
        Column(name="water", dtype="float64", decimals=1),
        Column(name="superplasticizer", dtype="float64", decimals=1),
        Column(name="coarse_aggregate", dtype="float64", decimals=1),
        Column(name="fine_aggregate", dtype="float64", decimals=1),
        Column(name="age", dtype="int64"),
        Column(name="compressive_strength", dtype="float64", openml_name="strength", decimals=2),
    ),
    response="compressive_strength",
    citation=(
        "I-C. Yeh (1998). Modeling of strength of high performance concrete using artificial "
        "neural networks. Cement and Concrete Research 28(12), 1797-1808."
    ),
    license="CC BY 4.0",
    openml_id=44959,
    openml_target="strength",
)

PIMA = DataSet(
    name="pima_diabetes",
    file="pima_diabetes.csv",
    sha256="d579e2243fd8bff59098eafc42ac88c80c1e90785d9f53f9285732c3d3d5e591",
    n_rows=768,
    columns=(
        Column(name="pregnant", dtype="int64", openml_name="preg"),
        Column(name="glucose", dtype="int64", openml_name="plas"),
        Column(name="pressure", dtype="int64", openml_name="pres"),
        Column(name="triceps", dtype="int64", openml_name="skin"),
        Column(name="insulin", dtype="int64", openml_name="insu"),
        Column(name="mass", dtype="float64"),
        Column(name="pedigree", dtype="float64", openml_name="pedi"),
        Column(name="age", dtype="int64"),
        Column(
            name="diabetes",
            dtype="category",
            openml_name="class",
            levels={"tested_negative": "neg", "tested_positive": "pos"},
        ),
    ),
    response="diabetes",
    citation=(
        "J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler, R. S. Johannes (1988). Using "
        "the ADAP learning algorithm to forecast the onset of diabetes mellitus. Proceedings of "
        "the Symposium on Computer Applications and Medical Care, 261-265."
    ),
    license="none stated with the data",
    openml_id=37,
    openml_target="class",
)

AIRFOIL = DataSet(
    name="airfoil",
    file="airfoil.csv",
    sha256="56f27572496a2bc88462c661613d086a8108b327a1cfb44c4b1e315d9d624eb9",
    n_rows=1503,
    columns=(
        Column(name="frequency", dtype="int64"),
        Column(name="angle_of_attack", dtype="float64"),
        Column(name="chord_length", dtype="float64"),
        Column(name="free_stream_velocity", dtype="float64"),
        Column(name="displacement_thickness", dtype="float64"),
        Column(name="sound_pressure", dtype="float64"),
    ),
    response="sound_pressure",
    citation=(
        "T. F. Brooks, D. S. Pope, M. A. Marcolini (1989). Airfoil self-noise and prediction. "
        "NASA Reference Publication 1218."
    ),
    license="CC BY 4.0",
    openml_id=44957,
    openml_target="sound_pressure",
)

# fmt: off
_AMES_RUNS: tuple[tuple[Dtype, tuple[str, ...]], ...] = (
    ("category", ("MS_SubClass", "MS_Zoning")),
    ("int64", ("Lot_Frontage", "Lot_Area")),
    ("category", (
        "Street", "Alley", "Lot_Shape", "Land_Contour", "Utilities", "Lot_Config", "Land_Slope",
        "Neighborhood", "Condition_1", "Condition_2", "Bldg_Type", "House_Style", "Overall_Qual",
        "Overall_Cond",
    )),
    ("int64", ("Year_Built", "Year_Remod_Add")),
    ("category", ("Roof_Style", "Roof_Matl", "Exterior_1st", "Exterior_2nd", "Mas_Vnr_Type")),
    ("int64", ("Mas_Vnr_Area",)),
    ("category", (
        "Exter_Qual", "Exter_Cond", "Foundation", "Bsmt_Qual", "Bsmt_Cond", "Bsmt_Exposure",
        "BsmtFin_Type_1",
    )),
    ("int64", ("BsmtFin_SF_1",)),
    ("category", ("BsmtFin_Type_2",)),
    ("int64", ("BsmtFin_SF_2", "Bsmt_Unf_SF", "Total_Bsmt_SF")),
    ("category", ("Heating", "Heating_QC", "Central_Air", "Electrical")),
    ("int64", (
        "First_Flr_SF", "Second_Flr_SF", "Low_Qual_Fin_SF", "Gr_Liv_Area", "Bsmt_Full_Bath",
        "Bsmt_Half_Bath", "Full_Bath", "Half_Bath", "Bedroom_AbvGr", "Kitchen_AbvGr",
    )),
    ("category", ("Kitchen_Qual",)),
    ("int64", ("TotRms_AbvGrd",)),
    ("category", ("Functional",)),
    ("int64", ("Fireplaces",)),
    ("category", ("Fireplace_Qu", "Garage_Type", "Garage_Finish")),
    ("int64", ("Garage_Cars", "Garage_Area")),
    ("category", ("Garage_Qual", "Garage_Cond", "Paved_Drive")),
    ("int64", (
        "Wood_Deck_SF", "Open_Porch_SF", "Enclosed_Porch", "Three_season_porch", "Screen_Porch",
        "Pool_Area",
    )),
    ("category", ("Pool_QC", "Fence", "Misc_Feature")),
    ("int64", ("Misc_Val", "Mo_Sold", "Year_Sold")),
    ("category", ("Sale_Type", "Sale_Condition")),
    ("int64", ("Sale_Price",)),
    ("float64", ("Longitude", "Latitude")),
)
# fmt: on

# The file has 211 coordinates whose 16th digit is a rounding error (-93.67906939999999 for
# -93.6790694). A copy written with 15 digits can't have them: it gets a checksum of its own.
AMES = DataSet(
    name="ames",
    file="ames.csv",
    sha256="ab7dcae0d8eff64b9db12a01ea88394c6ac8d613bd531d0da4501f98aa3d65a6",
    n_rows=2930,
    columns=tuple(Column(name=name, dtype=dtype) for dtype, names in _AMES_RUNS for name in names),
    response="Sale_Price",
    citation=(
        "D. De Cock (2011). Ames, Iowa: Alternative to the Boston Housing Data as an End of "
        "Semester Regression Project. Journal of Statistics Education 19(3)."
    ),
    license="none stated with the data",
    openml_id=43926,
    openml_target="Sale_Price",
    sha256_15_digits="ef7402694e1c8cda7445edb10caaeb97d56b2a13952c70013c632124edd50ea2",
)

DATA_SETS = (*WINE.values(), CONCRETE, PIMA, AIRFOIL, AMES)
