r"""Public data sets of the examples: each loader returns a data frame with a named response.

======================  =====================  ========================  =====================
Loader                  Rows x columns         Response                  Source
======================  =====================  ========================  =====================
``load_wine_quality``   1599 x 12              ``quality``               this package, offline
white wines             4898 x 12              ``quality``               folder, else OpenML
``load_concrete``       1030 x 9               ``compressive_strength``  folder, else OpenML
``load_pima_diabetes``  768 x 9                ``diabetes``              folder, else OpenML
``load_airfoil``        1503 x 6               ``sound_pressure``        this package, offline
``load_ames``           2930 x 81              ``Sale_Price``            folder, else OpenML
``load_boston``         506 x 14               ``medv``                  folder, else OpenML
``load_diabetes``       442 x 11               ``progression``           scikit-learn, offline
======================  =====================  ========================  =====================

Red wines and airfoils come with the package, with texts on source and license. Of the data
that are not offline, if the environment variable ``PYINTERP_DATA`` names a folder, the CSV files
there are read. If it is unset or empty, scikit-learn downloads the data from OpenML into its
cache. Either way the table is compared with a pinned SHA-256, and a table that differs is an error.

``load`` takes a data set by name. Importing this package imports no third-party module.

The pinned text of a data set is a CSV in UTF-8 with commas, one header line, ``\n`` line ends, no
index, numbers as plain decimals with the fewest digits that give the same double (``7`` and not
``7.0``, no exponent), and levels as text. ``tables.toml`` has the checksums.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tomllib
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from http.client import HTTPException
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pyinterp.checks import check_choice
from pyinterp.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "load",
    "load_airfoil",
    "load_ames",
    "load_boston",
    "load_concrete",
    "load_diabetes",
    "load_pima_diabetes",
    "load_wine_quality",
]

Folder = str | os.PathLike[str] | None
WineColor = Literal["red", "white"]
Zeros = Literal["keep", "missing"]

FOLDER_VARIABLE = "PYINTERP_DATA"
HERE = resources.files("pyinterp.datasets")
ZERO_IS_MISSING = ["glucose", "pressure", "triceps", "insulin", "mass"]


TABLES: dict[str, dict[str, Any]] = tomllib.loads(HERE.joinpath("tables.toml").read_text("utf-8"))


def load(name: str, *, data_home: Folder = None) -> pd.DataFrame:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        "wine_quality_red", "wine_quality_white", "boston", "concrete", "pima_diabetes", "airfoil",
        "ames" or "diabetes". The functions ``load_...`` describe the data sets.
        "ames_kaggle_train" has half of the houses of "ames", with Kaggle's names and codes.
    data_home : path, optional
        Folder of scikit-learn's download cache (default: the usual one), for data that come
        neither with this package nor with scikit-learn. Not used when the environment variable
        ``PYINTERP_DATA`` names a folder with the CSV files.

    Returns
    -------
    pandas.DataFrame
        In the source's row order.

    Raises
    ------
    OptionError
        If there is no data set of that name.
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Examples
    --------
    >>> from pyinterp.datasets import load
    >>> load("diabetes").shape
    (442, 11)
    """
    check_choice("name", name, (*TABLES, "diabetes"))
    if name == "diabetes":
        from sklearn import datasets  # noqa: PLC0415

        frame: pd.DataFrame = datasets.load_diabetes(as_frame=True, scaled=False).frame
        return frame.rename(columns={"target": "progression"})
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if "openml_id" not in TABLES[name]:
        content = HERE.joinpath(f"{name}.csv").read_bytes()
    else:
        content = _read_folder(name, folder) if folder else _read_openml(name, data_home)
    return parse_csv(content)


def parse_csv(content: bytes) -> pd.DataFrame:
    """Return the data frame of a pinned text, in which ``None`` and ``NA`` are levels."""
    import pandas as pd  # noqa: PLC0415

    options: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
    numbers = pd.read_csv(io.BytesIO(content), **options).select_dtypes("number")
    # The parser's numbers may be off by one unit in the last place.
    texts: pd.DataFrame = pd.read_csv(io.BytesIO(content), dtype=str, **options)
    return texts.astype(dict.fromkeys(texts.columns, "category") | dict(numbers.dtypes))


def _read_folder(name: str, folder: str) -> bytes:
    """Return the checked bytes of the file in `folder`."""
    file, in_r = f"{name}.csv", TABLES[name].get("in_r", "")
    unset = f"or unset {FOLDER_VARIABLE} to download from OpenML.{in_r}"
    try:
        content = (Path(folder).expanduser() / file).read_bytes()
    except OSError as error:
        raise DataError(
            f"{FOLDER_VARIABLE} must name a folder that holds {file}, but that file can't be "
            f"read in {folder!r}: {type(error).__name__}. Put the file there, {unset}"
        ) from error
    remedy = f"replace the file by the unaltered one (line ends count), {unset}"
    return _with_sha256(content, TABLES[name]["sha256"], f"{file} in {folder!r}", remedy)


def _read_openml(name: str, data_home: Folder) -> bytes:
    """Return the checked pinned text, made of OpenML's copy."""
    import pandas as pd  # noqa: PLC0415
    from sklearn import datasets  # noqa: PLC0415

    table = TABLES[name]
    copy = f"OpenML's copy of `{name}` (data_id={table['openml_id']})"
    use_folder = f"set {FOLDER_VARIABLE} to a folder that holds {name}.csv.{table.get('in_r', '')}"
    try:
        frame = datasets.fetch_openml(
            data_id=table["openml_id"], as_frame=True, parser="auto", data_home=data_home
        ).frame
    except (OSError, HTTPException, EOFError, ValueError) as error:
        raise DataError(
            f"{copy} must be downloaded, but that failed with {type(error).__name__}: {error}; "
            f"check the network, or {use_folder}"
        ) from error
    texts = {}
    for column in table["columns"]:
        title = table.get("openml_names", {}).get(column, column)
        matches = [other for other in frame.columns if _fold(str(other)) == _fold(title)]
        if len(matches) != 1:
            raise DataError(
                f"{copy} must have one column `{title}`, but has {len(matches)} among "
                f"{', '.join(map(str, frame.columns))}; {use_folder}"
            )
        texts[column] = [_openml_text(value, column, table) for value in frame[matches[0]]]
    content = pd.DataFrame(texts).to_csv(index=False, lineterminator="\n").encode()
    what = f"{copy} differs from the pinned data: its text"
    return _with_sha256(content, table.get("openml_sha256", table["sha256"]), what, use_folder)


def _with_sha256(content: bytes, sha256: str, what: str, remedy: str) -> bytes:
    """Return a text if it has this SHA-256."""
    got = hashlib.sha256(content).hexdigest()
    if got != sha256:
        raise DataError(f"{what} must have the SHA-256 {sha256}, but has {got}; {remedy}")
    return content


def _fold(name: str) -> str:
    """Return `name` without case and punctuation."""
    return re.sub(r"[^0-9a-z]+", "_", name.lower()).strip("_")


def _openml_text(value: Any, name: str, table: Mapping[str, Any]) -> str:
    """Return the pinned text of a value of OpenML's copy of column `name`.

    Numbers are cut to 15 significant digits, which undoes an error in the last place, and rounded
    where `table` says so.
    """
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    if pd.isna(value):
        return ""
    try:
        number = Decimal(f"{float(value):.15g}")
        if name in table.get("decimals", {}):
            number = number.quantize(Decimal(1).scaleb(-table["decimals"][name]), ROUND_HALF_UP)
        return np.format_float_positional(float(number), trim="-")
    except (ValueError, InvalidOperation):
        return str(table.get("levels", {}).get(str(value), value))


def load_wine_quality(color: WineColor = "red", *, data_home: Folder = None) -> pd.DataFrame:
    """Return the physicochemical measurements and the taste score of red or white wines.

    Samples of Vinho Verde from the north of Portugal. There are no missing values. Use the data
    for regression on a response with few distinct values.

    Parameters
    ----------
    color : {"red", "white"}
        Which of the two tables.
    data_home : path, optional
        Folder of scikit-learn's download cache (default: the usual one), for
        ``wine_quality_white.csv``.
        Not used when the environment variable ``PYINTERP_DATA`` names a folder with that file.

    Returns
    -------
    pandas.DataFrame, shape (1599, 12) or (4898, 12)
        In the source's row order, with the columns

        ====================  =======  ============================================================
        Column                Type     Unit
        ====================  =======  ============================================================
        fixed_acidity         float64  g (tartaric acid) / dm3
        volatile_acidity      float64  g (acetic acid) / dm3
        citric_acid           float64  g / dm3
        residual_sugar        float64  g / dm3
        chlorides             float64  g (sodium chloride) / dm3
        free_sulfur_dioxide   float64  mg / dm3
        total_sulfur_dioxide  float64  mg / dm3
        density               float64  g / cm3
        pH                    float64  none
        sulphates             float64  g (potassium sulphate) / dm3
        alcohol               float64  percent by volume
        quality               int64    **response**: median score of three tasters or more, 0 to 10
        ====================  =======  ============================================================

    Raises
    ------
    OptionError
        If an option has no such value.
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    Rows repeat: 240 of the red and 937 of the white wines are copies of an earlier row. They are
    kept, as at UCI, so a random split puts copies of training rows into the test set.

    The score takes six values for red (3 to 8, with counts 10, 53, 681, 638, 199, 18) and seven for
    white (3 to 9, with counts 20, 163, 1457, 2198, 880, 175, 5). Expect ties and steps.

    Red wines come with the package. Source: UCI Machine Learning Repository, data set 186; OpenML
    data set 44971 (white). License: CC BY 4.0 (UCI; the file that comes with the data says "public
    available for research" and asks for the citation).

    References
    ----------
    P. Cortez, A. Cerdeira, F. Almeida, T. Matos, J. Reis (2009). Modeling wine preferences by data
    mining from physicochemical properties. Decision Support Systems 47(4), 547-553.
    doi:10.1016/j.dss.2009.05.016

    Examples
    --------
    >>> from pyinterp.datasets import load_wine_quality
    >>> load_wine_quality().shape
    (1599, 12)
    """
    check_choice("color", color, get_args(WineColor))
    return load(f"wine_quality_{color}", data_home=data_home)


def load_concrete(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the composition, age and compressive strength of concrete samples.

    There are no missing values. Use the data for regression with strong interactions (age with
    everything) and correlated features (the mixture fills one cubic meter).

    Parameters
    ----------
    data_home : path, optional
        Folder of scikit-learn's download cache (default: the usual one), for
        ``concrete.csv``.
        Not used when the environment variable ``PYINTERP_DATA`` names a folder with that file.

    Returns
    -------
    pandas.DataFrame, shape (1030, 9)
        In the source's row order, with the columns

        ====================  =======  ===================================
        Column                Type     Unit
        ====================  =======  ===================================
        cement                float64  kg per m3 of mixture
        blast_furnace_slag    float64  kg per m3 of mixture
        fly_ash               float64  kg per m3 of mixture
        water                 float64  kg per m3 of mixture
        superplasticizer      float64  kg per m3 of mixture
        coarse_aggregate      float64  kg per m3 of mixture
        fine_aggregate        float64  kg per m3 of mixture
        age                   int64    days (1 to 365, 14 distinct values)
        compressive_strength  float64  **response**: MPa (2.33 to 82.6)
        ====================  =======  ===================================

    Raises
    ------
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    Rows repeat: 25 are copies of an earlier row. They are kept, as at UCI, so a random split puts
    copies of training rows into the test set. Zeros in slag, fly ash and superplasticizer are
    real: the mixture has none.

    UCI offers the table twice, and its spreadsheet has more digits than its text file (a strength
    of 79.98611076 instead of 79.99). This is the text file: mixtures to 0.1, strength to 0.01. A
    download with more digits is rounded to it, half up.

    Source: UCI Machine Learning Repository, data set 165, doi:10.24432/C5PK67; OpenML data set
    44959. License: CC BY 4.0 (the text that comes with the data asks to retain the copyright
    notice for Prof. I-Cheng Yeh and the citation).

    References
    ----------
    I-C. Yeh (1998). Modeling of strength of high performance concrete using artificial neural
    networks. Cement and Concrete Research 28(12), 1797-1808.

    Examples
    --------
    >>> from pyinterp.datasets import load_concrete
    >>> load_concrete().shape  # doctest: +SKIP
    (1030, 9)
    """
    return load("concrete", data_home=data_home)


def load_pima_diabetes(zeros: Zeros = "keep", *, data_home: Folder = None) -> pd.DataFrame:
    """Return the medical measurements and the diabetes status of 768 women of Pima descent.

    At least 21 years old, living near Phoenix, Arizona. Use the data for two-class classification.

    Parameters
    ----------
    zeros : {"keep", "missing"}
        Zeros that can't be: keep them, as in the source, or set them to NaN. The
        columns concerned and how often: glucose 5, pressure 35, triceps 227, insulin 374, mass 11.
        With "missing" these five are float64.
    data_home : path, optional
        Folder of scikit-learn's download cache (default: the usual one), for
        ``pima_diabetes.csv``.
        Not used when the environment variable ``PYINTERP_DATA`` names a folder with that file.

    Returns
    -------
    pandas.DataFrame, shape (768, 9)
        In the source's row order, with the columns

        ========  ========  ===================================================
        Column    Type      Unit
        ========  ========  ===================================================
        pregnant  int64     number of pregnancies
        glucose   int64     plasma glucose two hours into an oral test, mg / dl
        pressure  int64     diastolic blood pressure, mm Hg
        triceps   int64     skin fold thickness, mm
        insulin   int64     two-hour serum insulin, mu U / ml
        mass      float64   body mass index, kg / m2
        pedigree  float64   diabetes pedigree function, no unit
        age       int64     years (21 to 81)
        diabetes  category  **response**: ``neg`` (500) or ``pos`` (268)
        ========  ========  ===================================================

    Raises
    ------
    OptionError
        If an option has no such value.
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    The source has no missing value, but nobody has a blood pressure, body mass or skin fold of
    zero: these zeros are hidden missing values. A zero in ``pregnant`` (111 rows) is genuine.

    ``zeros="keep"`` agrees with ``PimaIndiansDiabetes`` of the R package mlbench and
    ``zeros="missing"`` with its ``PimaIndiansDiabetes2`` and with ``pima`` of the R package pdp,
    cell by cell.

    These are health data of an identifiable community, and UCI no longer offers them. Prefer
    another data set unless published results are to be reproduced.

    Source: National Institute of Diabetes and Digestive and Kidney Diseases; OpenML data set 37.
    License: none stated with the data. The source gives no unit of glucose; mg / dl is the usual
    one.

    References
    ----------
    J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler, R. S. Johannes (1988). Using the
    ADAP learning algorithm to forecast the onset of diabetes mellitus. Proceedings of the
    Symposium on Computer Applications and Medical Care, 261-265.

    Examples
    --------
    >>> from pyinterp.datasets import load_pima_diabetes
    >>> load_pima_diabetes().shape  # doctest: +SKIP
    (768, 9)
    """
    check_choice("zeros", zeros, get_args(Zeros))
    frame = load("pima_diabetes", data_home=data_home)
    if zeros == "missing":
        measured = frame[ZERO_IS_MISSING].astype("float64")
        frame[ZERO_IS_MISSING] = measured.mask(measured == 0)
    return frame


def load_airfoil() -> pd.DataFrame:
    """Return the design and the sound pressure level of airfoils in a wind tunnel.

    NACA 0012 airfoil blades of several sizes. There are no missing values and no repeated rows.
    Use the data for regression on a smooth response with dependent features.

    Returns
    -------
    pandas.DataFrame, shape (1503, 6)
        In the source's row order, with the columns

        ======================  =======  ==================================================
        Column                  Type     Unit
        ======================  =======  ==================================================
        frequency               int64    Hz (200 to 20000)
        angle_of_attack         float64  degrees (0 to 22.2)
        chord_length            float64  m (0.0254 to 0.3048)
        free_stream_velocity    float64  m / s (31.7 to 71.3)
        displacement_thickness  float64  m, suction side (0.0004 to 0.0584)
        sound_pressure          float64  **response**: scaled level, dB (103.38 to 140.987)
        ======================  =======  ==================================================

    Notes
    -----
    A designed experiment: the features have only 21, 27, 6, 4 and 105 distinct values, with strong
    ties and dependence. Velocity and chord length are better read as groups than as continua, and
    partial dependence extrapolates where thickness, angle and chord don't occur together.

    Source: UCI Machine Learning Repository, data set 291, doi:10.24432/C5VW2C. License: CC
    BY 4.0. The file comes with the package.

    References
    ----------
    T. F. Brooks, D. S. Pope, M. A. Marcolini (1989). Airfoil self-noise and prediction. NASA
    Reference Publication 1218.

    Examples
    --------
    >>> from pyinterp.datasets import load_airfoil
    >>> load_airfoil().shape
    (1503, 6)
    """
    return load("airfoil")


def load_ames(*, data_home: Folder = None) -> pd.DataFrame:
    """Return the sale price and 80 properties of houses sold in Ames, Iowa, from 2006 to 2010.

    The processed table of ``AmesHousing::make_ames()`` in R. Use the data for regression with many
    features of mixed type. The response is not the last column.

    Parameters
    ----------
    data_home : path, optional
        Folder of scikit-learn's download cache (default: the usual one), for
        ``ames.csv``.
        Not used when the environment variable ``PYINTERP_DATA`` names a folder with that file.

    Returns
    -------
    pandas.DataFrame, shape (2930, 81)
        In the source's row order, with the columns

        ==================  ========  ======================================
        Column              Type      Unit
        ==================  ========  ======================================
        MS_SubClass         category
        MS_Zoning           category
        Lot_Frontage        int64     feet
        Lot_Area            int64     square feet
        Street              category
        Alley               category
        Lot_Shape           category
        Land_Contour        category
        Utilities           category
        Lot_Config          category
        Land_Slope          category
        Neighborhood        category
        Condition_1         category
        Condition_2         category
        Bldg_Type           category
        House_Style         category
        Overall_Qual        category
        Overall_Cond        category
        Year_Built          int64     calendar year
        Year_Remod_Add      int64     calendar year
        Roof_Style          category
        Roof_Matl           category
        Exterior_1st        category
        Exterior_2nd        category
        Mas_Vnr_Type        category
        Mas_Vnr_Area        int64     square feet
        Exter_Qual          category
        Exter_Cond          category
        Foundation          category
        Bsmt_Qual           category
        Bsmt_Cond           category
        Bsmt_Exposure       category
        BsmtFin_Type_1      category
        BsmtFin_SF_1        int64     code of BsmtFin_Type_1 (see the notes)
        BsmtFin_Type_2      category
        BsmtFin_SF_2        int64     square feet
        Bsmt_Unf_SF         int64     square feet
        Total_Bsmt_SF       int64     square feet
        Heating             category
        Heating_QC          category
        Central_Air         category
        Electrical          category
        First_Flr_SF        int64     square feet
        Second_Flr_SF       int64     square feet
        Low_Qual_Fin_SF     int64     square feet
        Gr_Liv_Area         int64     square feet
        Bsmt_Full_Bath      int64     number
        Bsmt_Half_Bath      int64     number
        Full_Bath           int64     number
        Half_Bath           int64     number
        Bedroom_AbvGr       int64     number
        Kitchen_AbvGr       int64     number
        Kitchen_Qual        category
        TotRms_AbvGrd       int64     number
        Functional          category
        Fireplaces          int64     number
        Fireplace_Qu        category
        Garage_Type         category
        Garage_Finish       category
        Garage_Cars         int64     number
        Garage_Area         int64     square feet
        Garage_Qual         category
        Garage_Cond         category
        Paved_Drive         category
        Wood_Deck_SF        int64     square feet
        Open_Porch_SF       int64     square feet
        Enclosed_Porch      int64     square feet
        Three_season_porch  int64     square feet
        Screen_Porch        int64     square feet
        Pool_Area           int64     square feet
        Pool_QC             category
        Fence               category
        Misc_Feature        category
        Misc_Val            int64     US$
        Mo_Sold             int64     month
        Year_Sold           int64     calendar year
        Sale_Type           category
        Sale_Condition      category
        Sale_Price          int64     **response**: US$ (12789 to 755000)
        Longitude           float64   degrees
        Latitude            float64   degrees
        ==================  ========  ======================================

    Raises
    ------
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    Traps:

    * ``BsmtFin_SF_1`` is not an area. A slip in ``make_ames()`` stores the code of
      ``BsmtFin_Type_1`` (1 to 7, once 0) instead. It is kept, for R's results depend on it. The
      area is ``Total_Bsmt_SF - BsmtFin_SF_2 - Bsmt_Unf_SF`` in every row.
    * The text ``None`` is a level of ``Mas_Vnr_Type`` (1775 houses) and ``Misc_Feature`` (2824). A
      default ``pandas.read_csv`` turns it into NaN; this function does not.
    * No value is missing, but zero may mean unknown: ``Lot_Frontage`` is 0 in 490 rows.
      One house has ``Electrical`` equal to ``Unknown``.
    * The level ``WD`` of ``Sale_Type`` ends in a space, as in R.
    * Five houses have ``Gr_Liv_Area`` above 4000 square feet; De Cock advises to drop them.

    Levels are those that occur, unordered, sorted by character code. R has another order (and with
    it another baseline of dummy coding), and two levels that no house has: ``Hayden_Lake`` of
    ``Neighborhood`` and ``Very_Excellent`` of ``Overall_Cond``.

    ``modeldata::ames`` in R is this table without ``Overall_Qual``, ``Exter_Qual``, ``Bsmt_Qual``,
    ``Low_Qual_Fin_SF``, ``Kitchen_Qual``, ``Fireplace_Qu`` and ``Garage_Qual``. The raw data are
    coded otherwise and have missing values.

    In the CSV file 211 coordinates have a rounding error in the 16th digit. They are read as they
    are; a download is compared, and returned, with 15 digits. Nothing else differs.

    Source: Ames City Assessor's Office; OpenML data set 43926. License: none stated with the data
    (the R package AmesHousing is GPL-2, modeldata is MIT).

    References
    ----------
    D. De Cock (2011). Ames, Iowa: Alternative to the Boston Housing Data as an End of Semester
    Regression Project. Journal of Statistics Education 19(3).

    Examples
    --------
    >>> from pyinterp.datasets import load_ames
    >>> load_ames().shape  # doctest: +SKIP
    (2930, 81)
    """
    return load("ames", data_home=data_home)


def load_boston() -> pd.DataFrame:
    """Return the median home value and 13 properties of 506 census tracts of Boston, 1970.

    There are no missing values. Use the data to reproduce published results.

    The file ``boston.csv`` is read from the folder that ``PYINTERP_DATA`` names, or downloaded.

    Returns
    -------
    pandas.DataFrame, shape (506, 14)
        In the source's row order, with the columns

        =======  =======  ====================================================================
        Column   Type     Unit
        =======  =======  ====================================================================
        crim     float64  crimes per head
        zn       float64  percent of residential land in lots of more than 25,000 square feet
        indus    float64  percent of acres of non-retail business
        chas     int64    1 if the tract bounds the Charles River
        nox      float64  nitrogen oxides, parts per 10 million
        rm       float64  mean number of rooms
        age      float64  percent of homes built before 1940
        dis      float64  weighted distance to five employment centers
        rad      int64    index of access to highways
        tax      int64    property tax, US$ per 10,000 US$
        ptratio  float64  pupils per teacher
        b        float64  1000 (B - 0.63)², B the share of Black residents
        lstat    float64  percent of residents of lower status
        medv     float64  **response**: median value of homes, 1000 US$, at most 50
        =======  =======  ====================================================================

    Raises
    ------
    DataError
        If the data can't be found or downloaded, or are not the pinned ones (SHA-256).

    Notes
    -----
    The variable ``b`` assumes that racial self-segregation raises prices, and can't be turned back
    into B. Prefer another data set unless published results are to be reproduced.

    R has the data; its line ``d <- MASS::Boston; names(d)[12] <- "b"; write.csv(d, "boston.csv",
    row.names = FALSE, quote = FALSE)`` writes the file.

    Source: StatLib; OpenML data set 531. License: none stated with the data, so the package does
    not have them.

    References
    ----------
    D. Harrison, D. L. Rubinfeld (1978). Hedonic housing prices and the demand for clean air.
    Journal of Environmental Economics and Management 5(1), 81-102.

    Examples
    --------
    >>> from pyinterp.datasets import load_boston
    >>> load_boston().shape  # doctest: +SKIP
    (506, 14)
    """
    return load("boston")


def load_diabetes() -> pd.DataFrame:
    """Return the baseline measurements and the one-year progression of 442 diabetes patients.

    Bundled with scikit-learn, so neither a folder nor a network is needed. There are no missing
    values. Use the data for examples that must run anywhere.

    Returns
    -------
    pandas.DataFrame, shape (442, 11)
        In the source's row order, with the columns

        ===========  =======  ==========================================================
        Column       Type     Unit
        ===========  =======  ==========================================================
        age          float64  years
        sex          float64  1 or 2 (the source doesn't say which is which)
        bmi          float64  body mass index, kg / m2
        bp           float64  average blood pressure, mm Hg
        s1           float64  total serum cholesterol
        s2           float64  low-density lipoproteins
        s3           float64  high-density lipoproteins
        s4           float64  total cholesterol divided by high-density lipoproteins
        s5           float64  possibly the logarithm of serum triglycerides
        s6           float64  blood sugar
        progression  float64  **response**: one year after baseline (25 to 346, no unit)
        ===========  =======  ==========================================================

    Notes
    -----
    This is ``sklearn.datasets.load_diabetes(as_frame=True, scaled=False).frame`` with ``target``
    renamed. scikit-learn's default scales every feature to mean 0 and sum of squares 1; these are
    the unscaled values. The serum measurements have no stated units.

    The serum columns are collinear: ``s2`` and ``s3`` explain 86 percent of the variance of
    ``s1``. These are not the Pima data of `load_pima_diabetes`.

    Source: the data of the paper below, as bundled with scikit-learn. License: none stated with
    the data; scikit-learn, which distributes them, is BSD-3-Clause.

    References
    ----------
    B. Efron, T. Hastie, I. Johnstone, R. Tibshirani (2004). Least angle regression. Annals of
    Statistics 32(2), 407-499.

    Examples
    --------
    >>> from pyinterp.datasets import load_diabetes
    >>> load_diabetes().shape
    (442, 11)
    """
    return load("diabetes")
